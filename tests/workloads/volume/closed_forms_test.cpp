// Volumes of every kind of parallelism against closed forms, each written out from its source with its own arithmetic:
// tensor and sequence (Korthikanti et al. 2205.05198; Megatron-core 0.8 core/tensor_parallel), pipeline (Narayanan et
// al. 2104.04473; Qi et al. 2401.10241, 2405.15362), context (TransformerEngine attention.py; DeepSpeed-Ulysses
// 2309.14509), experts (Megatron-core 0.8 core/transformer/moe; DeepSpeed 0.14 moe/sharded_moe.py), data (Rajbhandari
// et al. 1910.02054; torch.distributed.fsdp). Symbols: b micro-batch, s sequence, h hidden, L layers, V vocabulary, e
// bytes of an element, t tensor, c context, p pipeline, d data, m micro-batches.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/workloads/studies.hpp"
#include "workloads/volume/volume.hpp"

namespace weft {
namespace {

constexpr double b = 2, s = 512, h = 256, L = 8, V = 1024, m = 8, e = 2, heads = 8;
constexpr double hidden_bytes = b * s * h * e;

Plan plan_of(const std::vector<std::string>& settings) {
    std::vector<std::string> all{"framework=megatron", "model.layers=8",     "model.hidden=256",      "model.heads=8",
                                 "batch.micro=2",      "batch.sequence=512", "model.vocabulary=1024", "layout.tensor=1",
                                 "layout.pipeline=1",  "layout.data=1",      "batch.global=16"};
    all.insert(all.end(), settings.begin(), settings.end());
    return make_plan(test::small_study(all));
}

// Calls of one steady step of a rank, and the bytes of their tensors.
struct Sum {
    double calls = 0, messages = 0;
};

Sum sum(const VolumeTable& table, const std::string& dimension, const std::string& op, const std::string& label = "") {
    Sum sum;
    for (const VolumeRow& row : table.rows) {
        if (row.dimension != dimension || row.op != op || (!label.empty() && row.label != label)) continue;
        if (row.when != "step" && row.when != "micro-batch") continue;
        const double calls = row.calls * (row.when == "step" ? 1 : table.micro_batches);
        sum.calls += calls;
        sum.messages += calls * row.message.value;
    }
    return sum;
}

Sum sum_over_stages(const Plan& plan, const std::string& dimension, const std::string& op) {
    Sum all;
    for (std::uint32_t stage = 0; stage < plan.job.layout.pipeline; ++stage) {
        const RankId rank = plan.job.layout.grid().slice("pipeline", stage).front();
        const Sum own = sum(framework_volume(plan, rank), dimension, op);
        all.calls += own.calls;
        all.messages += own.messages;
    }
    return all;
}

double calls_of_size(const VolumeTable& table, const std::string& op, double message) {
    double calls = 0;
    for (const VolumeRow& row : table.rows) {
        if (row.dimension != "tensor" || row.op != op || row.message.value != message) continue;
        if (row.when == "step" || row.when == "micro-batch") {
            calls += row.calls * (row.when == "step" ? 1 : table.micro_batches);
        }
    }
    return calls;
}

// Tensor parallelism: two all-reduces of the hidden state a layer forward and two backward; one after the embedding,
// one of the head's input gradient. Full recomputation repeats the forward ones.
TEST(closed_forms, tensor_parallelism_all_reduces_4l_plus_2_hidden_states) {
    for (const auto& [recompute, a_layer] : {std::pair{"none", 4.0}, {"selective", 4.0}, {"full", 6.0}}) {
        for (const char* t : {"2", "4"}) {
            const Plan plan = plan_of({std::string("layout.tensor=") + t, std::string("recompute=") + recompute});
            EXPECT_EQ(calls_of_size(framework_volume(plan, RankId{0}), "all_reduce", hidden_bytes),
                      m * (a_layer * L + 2))
                << recompute << ", tensor " << t;
        }
    }
}

// The embedding is on the first stage alone, the head on the last.
TEST(closed_forms, tensor_parallelism_under_a_pipeline) {
    const Plan plan = plan_of({"layout.tensor=2", "layout.pipeline=4"});
    for (const auto& [stage, ends] : {std::pair{0U, 1.0}, {1U, 0.0}, {2U, 0.0}, {3U, 1.0}}) {
        const VolumeTable table = framework_volume(plan, RankId{2 * stage});
        EXPECT_EQ(calls_of_size(table, "all_reduce", hidden_bytes), m * (4 * L / 4 + ends)) << stage;
    }
}

TEST(closed_forms, cross_entropy_takes_three_all_reduces_of_a_float_a_token_and_fused_two) {
    const VolumeTable plain = framework_volume(plan_of({"layout.tensor=2"}), RankId{0});
    EXPECT_EQ(calls_of_size(plain, "all_reduce", 4 * b * s), 3 * m);
    const VolumeTable fused =
        framework_volume(plan_of({"layout.tensor=2", "megatron.fused_cross_entropy=true"}), RankId{0});
    EXPECT_EQ(calls_of_size(fused, "all_reduce", 4 * b * s), m);
    EXPECT_EQ(calls_of_size(fused, "all_reduce", 8 * b * s), m);
}

// Fewer heads of keys and values than ranks (Megatron-core 0.16, transformer/attention.py): all that the map gives is
// gathered in every layer, and its gradient summed and dealt out. A rank attends to one whole head: keys and values are
// as wide as a head and no narrower.
TEST(closed_forms, copied_key_value_heads_are_gathered_with_the_queries) {
    const Plan plan = plan_of({"layout.tensor=4", "model.kv_heads=2"});
    const VolumeTable table = framework_volume(plan, RankId{0});
    const double whole = b * s * (h + 2 * 2 * h / heads) * e;
    EXPECT_EQ(calls_of_size(table, "all_gather", whole), m * L);
    EXPECT_EQ(calls_of_size(table, "reduce_scatter", whole), m * L);
    EXPECT_EQ(calls_of_size(table, "all_reduce", hidden_bytes), m * (4 * L + 2));
    const auto kept = [](const char* kv_heads) {
        return plan_of({"layout.tensor=4", std::string("model.kv_heads=") + kv_heads})
            .stages.front()
            .memory.activations;
    };
    EXPECT_EQ(kept("2"), kept("4")) << "one head of keys and one of values either way";
    EXPECT_THROW(plan_of({"framework=deepspeed", "layout.tensor=4", "model.kv_heads=2"}), ConfigError)
        << "Megatron-core alone copies them";
}

// Sequence parallelism. A layer forward: 2 gathers, 2 scatters. Backward: a gather of each row-parallel output gradient
// and a scatter of each column-parallel input gradient, and 2 more gathers of the inputs that were saved in shares. The
// embedding scatters forward and gathers backward; the head gathers forward and, of its saved input, backward, and
// scatters.
TEST(closed_forms, sequence_parallelism_gathers_and_scatters) {
    for (const auto& [recompute, again] : {std::pair{"none", 0.0}, {"full", 2.0}}) {
        const Plan plan = plan_of({"layout.tensor=2", "sequence_parallel=true", std::string("recompute=") + recompute});
        const VolumeTable table = framework_volume(plan, RankId{0});
        EXPECT_EQ(calls_of_size(table, "all_gather", hidden_bytes), m * ((2 + 4 + again) * L + 1 + 2)) << recompute;
        EXPECT_EQ(calls_of_size(table, "reduce_scatter", hidden_bytes), m * ((2 + 2 + again) * L + 1 + 1)) << recompute;
        EXPECT_EQ(calls_of_size(table, "all_reduce", hidden_bytes), 0) << recompute;
    }
}

// Without the gathers of saved inputs it moves what tensor parallelism moves: a gather and a scatter are an all-reduce.
TEST(closed_forms, sequence_parallelism_moves_as_much_as_tensor_parallelism_and_saved_inputs) {
    const VolumeTable tensor = framework_volume(plan_of({"layout.tensor=4"}), RankId{0});
    const VolumeTable sequence = framework_volume(plan_of({"layout.tensor=4", "sequence_parallel=true"}), RankId{0});
    const double saved = m * (2 * L + 1);  // and the head's
    const double scattered = calls_of_size(sequence, "reduce_scatter", hidden_bytes) * 3 / 4;
    const double gathered = (calls_of_size(sequence, "all_gather", hidden_bytes) - saved) * 3 / 4;
    EXPECT_EQ(scattered + gathered, calls_of_size(tensor, "all_reduce", hidden_bytes) * 2 * 3 / 4);
}

// Norms (weight and bias, 2 h each) and the biases added to row-parallel outputs (h each) saw other tokens on each
// tensor rank: two of both a layer, and the final norm.
TEST(closed_forms, sequence_parallelism_sums_norm_gradients_once_a_step) {
    const VolumeTable table = framework_volume(plan_of({"layout.tensor=2", "sequence_parallel=true"}), RankId{0});
    const Sum norms = sum(table, "tensor", "all_reduce", "all-reduce norm gradients");
    EXPECT_EQ(norms.calls, 1);
    EXPECT_EQ(norms.messages, (L * (2 * 2 * h + 2 * h) + 2 * h) * e);
}

// Boundary crossings of a micro-batch, forward; as many backward.
struct Crossings {
    std::string schedule;
    std::vector<std::string> settings;
    double forward;
};

TEST(closed_forms, stages_hand_over_as_often_as_the_schedule_crosses_them) {
    constexpr double p = 4, v = 2;
    const std::vector<Crossings> schedules{{"gpipe", {}, p - 1},
                                           {"1f1b", {}, p - 1},
                                           {"interleaved", {"layout.virtual_stages=2"}, p * v - 1},
                                           {"zb-h1", {}, p - 1},
                                           {"zb-h2", {}, p - 1},
                                           {"zb-v", {}, 2 * (p - 1)},  // down and up again, turning on the last stage
                                           {"dualpipe", {}, p - 1}};
    for (const Crossings& c : schedules) {
        std::vector<std::string> settings{"layout.pipeline=4", "schedule=" + c.schedule};
        settings.insert(settings.end(), c.settings.begin(), c.settings.end());
        const Plan plan = plan_of(settings);
        const Sum sent = sum_over_stages(plan, "pipeline", "send"),
                  received = sum_over_stages(plan, "pipeline", "recv");
        EXPECT_EQ(sent.calls, 2 * m * c.forward) << c.schedule;
        EXPECT_EQ(sent.messages, 2 * m * c.forward * hidden_bytes) << c.schedule;
        EXPECT_EQ(received.messages, sent.messages) << c.schedule;
    }
}

// Under sequence parallelism each tensor rank hands over its share of the tokens; context ranks have their own too.
TEST(closed_forms, shares_of_a_sequence_are_handed_over_in_shares) {
    const Plan plan = plan_of(
        {"layout.pipeline=2", "layout.tensor=2", "sequence_parallel=true", "layout.context=2", "layout.split=even"});
    EXPECT_EQ(sum_over_stages(plan, "pipeline", "send").messages, 2 * m * hidden_bytes / (2 * 2));
}

struct ContextCase {
    double c, t, kv_heads;
};

std::vector<std::string> context_settings(const ContextCase& at, const std::string& method) {
    const auto whole = [](double value) { return std::to_string(static_cast<int>(value)); };
    return {"layout.context=" + whole(at.c), "layout.tensor=" + whole(at.t), "model.kv_heads=" + whole(at.kv_heads),
            "context_method=" + method};
}

constexpr ContextCase context_cases[] = {{2, 1, 8}, {4, 1, 8}, {2, 2, 8}, {4, 2, 4}, {8, 1, 2}, {3, 1, 8}};

// A rank's keys and values, 2 b (s/c) (h_kv/t) e, go c - 1 steps round forward and backward, and their gradients as
// many: 3 (c - 1) a layer, 4 (c - 1) with full recomputation.
TEST(closed_forms, a_context_ring_passes_keys_values_and_their_gradients) {
    for (const ContextCase& at : context_cases) {
        for (const auto& [recompute, passes] : {std::pair{"none", 3.0}, {"full", 4.0}}) {
            auto settings = context_settings(at, "ring");
            settings.insert(settings.end(), {std::string("recompute=") + recompute, "batch.sequence=1536"});
            const double keys_and_values = 2 * b * (1536 / at.c) * (h / heads * at.kv_heads / at.t) * e;
            const Sum ring = sum(framework_volume(plan_of(settings), RankId{0}), "context", "send_receive");
            EXPECT_EQ(ring.messages, m * L * passes * (at.c - 1) * keys_and_values) << at.c << " " << recompute;
        }
    }
}

// Keys and values of the whole sequence are gathered forward and again backward; their gradients are scattered.
TEST(closed_forms, gathered_keys_and_values_of_context_ranks) {
    for (const ContextCase& at : context_cases) {
        if (at.c == 3) continue;  // does not divide the sequence
        const VolumeTable table = framework_volume(plan_of(context_settings(at, "all_gather")), RankId{0});
        const double keys = b * s * (h / heads * at.kv_heads / at.t) * e;
        EXPECT_EQ(sum(table, "context", "all_gather").messages, m * L * (2 + 2) * keys);
        EXPECT_EQ(sum(table, "context", "all_gather").calls, m * L * (2 + 2));
        EXPECT_EQ(sum(table, "context", "reduce_scatter").messages, m * L * 2 * keys);
    }
}

// Ulysses: queries, keys, values and the output, b (s/c) (h/t) e each, forward and backward.
TEST(closed_forms, ulysses_exchanges_four_tensors_each_way) {
    for (const ContextCase& at : {ContextCase{2, 1, 8}, {4, 2, 8}, {2, 2, 4}, {8, 1, 8}}) {
        const VolumeTable table = framework_volume(plan_of(context_settings(at, "all_to_all")), RankId{0});
        const double queries = b * (s / at.c) * (h / at.t) * e, keys = queries * at.kv_heads / heads;
        const Sum exchanged = sum(table, "context", "all_to_all");
        EXPECT_EQ(exchanged.calls, m * L * 8);
        EXPECT_EQ(exchanged.messages, m * L * 2 * (2 * queries + 2 * keys)) << at.c << " " << at.t;
    }
}

constexpr double experts = 8, top_k = 2;
const std::vector<std::string> mixture{"model.experts.count=8", "model.experts.top_k=2"};

std::vector<std::string> with(std::vector<std::string> settings, const std::vector<std::string>& more) {
    settings.insert(settings.end(), more.begin(), more.end());
    return settings;
}

// Every token goes to its top_k experts and comes back, forward and backward; full recomputation goes forward again.
// Tokens of a rank: b s / c, divided by t under sequence parallelism.
TEST(closed_forms, tokens_travel_to_experts_and_back) {
    struct Case {
        std::vector<std::string> settings;
        double tokens, exchanges;
    };
    for (const Case& c :
         {Case{{"layout.data=4", "layout.expert=4", "batch.global=64"}, b * s, 4},
          Case{{"layout.data=4", "layout.expert=4", "batch.global=64", "recompute=full"}, b * s, 6},
          Case{{"layout.context=2", "layout.expert=2"}, b * s / 2, 4},
          Case{{"layout.data=2", "layout.tensor=2", "sequence_parallel=true", "layout.expert=2", "batch.global=32"},
               b * s / 2,
               4}}) {
        const Plan plan = plan_of(with(mixture, c.settings));
        const VolumeTable table = framework_volume(plan, RankId{0});
        const Sum exchanged = sum(table, "expert", "all_to_all");
        EXPECT_EQ(exchanged.calls, m * L * c.exchanges);
        EXPECT_EQ(exchanged.messages, m * L * c.exchanges * c.tokens * top_k * h * e);
        double wire = 0;
        for (const VolumeRow& row : table.rows) {
            if (row.dimension == "expert" && row.op == "all_to_all" && row.when == "micro-batch")
                wire += row.volume.value;
        }
        const double ep = plan.job.layout.expert;
        EXPECT_EQ(wire * m, exchanged.messages * (ep - 1) / ep);
        // Each rank tells the others how many tokens it has for each expert, as int64.
        const Sum counts = sum(table, "expert", "all_gather");
        EXPECT_EQ(counts.messages, m * L * (c.exchanges - 2) / 2 * 8 * experts * ep);
    }
}

// A capacity of max(4, ceil(factor top_k tokens / experts)) slots an expert travels, full or not.
TEST(closed_forms, a_capacity_sends_its_slots) {
    for (const auto& [factor, sequence] : {std::pair{1.25, 512.0}, {1.0, 512.0}, {0.3, 100.0}, {1.0, 4.0}}) {
        const Plan plan =
            plan_of(with(mixture, {"framework=deepspeed", "layout.data=2", "layout.expert=2", "batch.global=32",
                                   "batch.sequence=" + std::to_string(static_cast<int>(sequence)),
                                   "experts.capacity_factor=" + std::to_string(factor)}));
        const double slots = std::max(4.0, std::ceil(factor * top_k * b * sequence / experts));
        EXPECT_EQ(sum(framework_volume(plan, RankId{0}), "expert", "all_to_all").messages,
                  m * L * 4 * experts * slots * h * e)
            << factor << " of " << sequence;
    }
}

// Parameters of a rank: 2 V h / t + L (12 h^2 / t + 7 h / t + 6 h) + 2 h. V is padded to a multiple of 128 t.
double parameters(double t) { return 2 * V * h / t + L * (12 * h * h / t + 7 * h / t + 6 * h) + 2 * h; }

TEST(closed_forms, stages_hold_every_parameter_once) {
    for (const char* schedule : {"1f1b", "gpipe", "interleaved", "zb-h1", "zb-h2", "zb-v", "dualpipe"}) {
        for (const double t : {1.0, 2.0, 4.0}) {
            const bool interleaved = std::string(schedule) == "interleaved";
            const Plan plan = plan_of({"layout.pipeline=4", std::string("schedule=") + schedule,
                                       "layout.tensor=" + std::to_string(static_cast<int>(t)),
                                       std::string("layout.virtual_stages=") + (interleaved ? "2" : "1")});
            double held = 0;
            for (const Stage& stage : plan.stages) held += stage.parameters();
            const double copies = std::string(schedule) == "dualpipe" ? 2 : 1;
            EXPECT_EQ(held, copies * parameters(t)) << schedule << " tensor " << t;
        }
    }
}

// All sizes here are multiples of 128, so that no bucket is padded: the whole gradient over d c ranks, once a step.
TEST(closed_forms, distributed_optimizer_over_data_and_context_ranks) {
    for (const auto& [d, c] : {std::pair{4.0, 1.0}, {2.0, 2.0}, {4.0, 2.0}, {8.0, 4.0}}) {
        const std::vector<std::string> layout{"layout.data=" + std::to_string(static_cast<int>(d)),
                                              "layout.context=" + std::to_string(static_cast<int>(c)),
                                              "batch.global=" + std::to_string(static_cast<int>(16 * d))};
        const VolumeTable plain = framework_volume(plan_of(layout), RankId{0});
        EXPECT_EQ(sum(plain, "data", "all_reduce", "all-reduce gradients").messages, parameters(1) * e);
        const VolumeTable sharded = framework_volume(plan_of(with(layout, {"zero=1"})), RankId{0});
        EXPECT_EQ(sum(sharded, "data", "reduce_scatter").messages, parameters(1) * e);
        EXPECT_EQ(sum(sharded, "data", "all_gather").messages, parameters(1) * e);
        for (const VolumeRow& row : sharded.rows) {
            if (row.dimension == "data") {
                EXPECT_EQ(row.group_size, d * c) << row.label;
            }
        }
    }
}

// Experts are reduced over the ranks that hold the same ones: t c d / ep. Each has 8 h^2 + 5 h parameters; what is left
// of a layer are attention (4 h^2 + 4 h), two norms (4 h) and the router (h per expert).
TEST(closed_forms, expert_gradients_over_the_ranks_that_hold_the_same_experts) {
    const Plan plan =
        plan_of(with(mixture, {"layout.data=4", "layout.expert=2", "batch.global=64", "layout.context=2"}));
    const VolumeTable table = framework_volume(plan, RankId{0});
    const double own = L * experts / 2 * (8 * h * h + 5 * h);
    const double dense = 2 * V * h + 2 * h + L * (4 * h * h + 8 * h + experts * h);
    EXPECT_EQ(sum(table, "expert data", "all_reduce", "all-reduce gradients").messages, own * e);
    EXPECT_EQ(sum(table, "data", "all_reduce", "all-reduce gradients").messages, dense * e);
    for (const VolumeRow& row : table.rows) {
        if (row.dimension == "expert data") {
            EXPECT_EQ(row.group_size, 4U * 2 / 2);
        }
        if (row.dimension == "data") {
            EXPECT_EQ(row.group_size, 4U * 2);
        }
    }
}

// Context parallelism of recurrent layers (Megatron-core d98e8a64): Mamba-2 sends z, x, B, C and dt by a call each, B
// and C repeated where a tensor rank has fewer groups than there are context ranks, and y back; gated DeltaNet all at
// once. Backward the same. In every second layer, whatever attention's method is.
TEST(closed_forms, recurrences_exchange_heads_for_sequence) {
    constexpr double H = 16, N = 32, P = 64, layers = L / 2, c = 2;
    for (const double G : {2.0, 4.0}) {
        for (const bool mamba : {true, false}) {
            const std::string shape =
                R"(model.recurrence={"heads": 16, "key_size": 32, "value_size": 64, "key_heads": )";
            const Plan plan = plan_of({"layout.tensor=2", "layout.context=2", "context_method=all_gather",
                                       shape + std::to_string(static_cast<int>(G)) + "}",
                                       std::string(R"(model.layer_kinds={"r": {"mixer": ")") +
                                           (mamba ? "mamba2" : "gated_delta") + R"("}, "a": {}})",
                                       "model.layer_pattern=ra"});
            const double repeat = std::max(1.0, c / (G / 2));
            const double in = mamba ? 2 * H * P + 2 * G * N * repeat + H : 2 * G * N + 2 * H * P + 2 * H;
            const Sum own = sum(framework_volume(plan, RankId{0}), "context", "all_to_all");
            EXPECT_EQ(own.calls, 2 * m * layers * (mamba ? 6 : 2)) << G << mamba;
            EXPECT_EQ(own.messages, 2 * m * layers * b * s / c * (in + H * P) / 2 * e) << G << mamba;
        }
    }
}

// FSDP of a micro-batch: every parameter is gathered, and every layer again for backward (the root stays), and every
// gradient is scattered.
TEST(closed_forms, fsdp_moves_three_times_the_parameters) {
    const double layers = L * (12 * h * h + 13 * h), root = 2 * V * h + 2 * h;
    const std::vector<std::string> four{"framework=fsdp", "layout.data=4", "batch.global=64"};
    const VolumeTable full = framework_volume(plan_of(four), RankId{0});
    EXPECT_EQ(sum(full, "data", "all_gather").messages, m * (2 * layers + root) * e);
    EXPECT_EQ(sum(full, "data", "reduce_scatter").messages, m * (layers + root) * e);
    const VolumeTable kept = framework_volume(plan_of(with(four, {"fsdp.strategy=shard_grad_op"})), RankId{0});
    EXPECT_EQ(sum(kept, "data", "all_gather").messages, m * (layers + root) * e);
    EXPECT_EQ(sum(kept, "data", "reduce_scatter").messages, m * (layers + root) * e);
    const VolumeTable hybrid =
        framework_volume(plan_of(with(four, {"fsdp.strategy=hybrid_shard", "fsdp.shard_ranks=2"})), RankId{0});
    EXPECT_EQ(sum(hybrid, "data inner", "all_gather").messages, m * (2 * layers + root) * e);
    EXPECT_EQ(sum(hybrid, "data inner", "reduce_scatter").messages, m * (layers + root) * e);
    EXPECT_EQ(sum(hybrid, "data outer", "all_reduce").messages, m * (layers + root) / 2 * e);
}

// DistributedDataParallel and DeepSpeed without ZeRO: the whole gradient once a step.
TEST(closed_forms, replicas_all_reduce_their_gradients_once) {
    for (const char* framework : {"ddp", "deepspeed"}) {
        const VolumeTable table = framework_volume(
            plan_of({std::string("framework=") + framework, "layout.data=4", "batch.global=64"}), RankId{0});
        EXPECT_EQ(sum(table, "data", "all_reduce", "all-reduce gradients").messages, parameters(1) * e) << framework;
    }
}

}  // namespace
}  // namespace weft
