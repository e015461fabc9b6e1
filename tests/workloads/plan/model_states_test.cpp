// What a rank holds of the model's states, against closed forms: Rajbhandari et al. (1910.02054, figure 1) for Adam in
// mixed precision, 2 P parameters, 2 P gradients and 12 P optimizer states over d ranks; and activations of a stage.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "tests/workloads/studies.hpp"
#include "workloads/plan/states_in_time.hpp"

namespace weft {
namespace {

constexpr double b = 2, s = 512, h = 256, L = 8, V = 1024, d = 4;
constexpr double P = 2 * V * h + L * (12 * h * h + 13 * h) + 2 * h;

Plan plan_of(const std::vector<std::string>& settings) {
    std::vector<std::string> all{"model.layers=8",     "model.hidden=256",      "model.heads=8",   "batch.micro=2",
                                 "batch.sequence=512", "model.vocabulary=1024", "layout.tensor=1", "layout.pipeline=1",
                                 "layout.data=4",      "batch.global=64"};
    all.insert(all.end(), settings.begin(), settings.end());
    return make_plan(test::small_study(all));
}

double states(const std::vector<std::string>& settings) {
    const MemoryUse memory = plan_of(settings).stages.front().memory;
    return (memory.parameters + memory.gradients + memory.optimizer).value;
}

TEST(model_states, zero_stages_share_them_as_published) {
    EXPECT_DOUBLE_EQ(states({"framework=deepspeed", "zero=0"}), 16 * P);
    EXPECT_DOUBLE_EQ(states({"framework=deepspeed", "zero=1"}), 4 * P + 12 * P / d);
    EXPECT_DOUBLE_EQ(states({"framework=deepspeed", "zero=2"}), 2 * P + 14 * P / d);
    EXPECT_DOUBLE_EQ(states({"framework=deepspeed", "zero=3"}), 16 * P / d);
}

// The same of any plain model on any number of ranks, with the parameters of a GPT: the embedding matrix and as much
// again for the output layer, of each layer 4 h^2 + 4 h of attention, 8 h^2 + 5 h of the MLP and two norms of 2 h, and
// the last norm.
RC_GTEST_PROP(model_states, zero_stages_share_any_model_as_published, ()) {
    const double layers = *rc::gen::inRange(1, 60), heads = *rc::gen::element(1, 2, 4, 8);
    const double hidden = heads * 64 * *rc::gen::inRange(1, 9), vocabulary = 128 * *rc::gen::inRange(1, 400);
    const int ranks = *rc::gen::element(1, 2, 4, 8, 16), stage = *rc::gen::inRange(0, 4);
    const double matrices = 12 * hidden * hidden, biases_and_norms = 13 * hidden;
    const double parameters = 2 * vocabulary * hidden + layers * (matrices + biases_and_norms) + 2 * hidden;
    const auto is = [](const char* key, double value) { return fmt::format("{}={:.0f}", key, value); };
    const double held = states({is("model.layers", layers), is("model.heads", heads), is("model.hidden", hidden),
                                is("model.vocabulary", vocabulary), is("layout.data", ranks), is("zero", stage),
                                "framework=deepspeed"});
    const double whole = (stage < 3 ? 2 : 0) + (stage < 2 ? 2 : 0) + (stage < 1 ? 12 : 0);  // bytes per parameter
    const double expected = parameters * (whole + (16 - whole) / ranks);
    RC_ASSERT(std::abs(held - expected) <= 1e-9 * expected);
}

// ZeRO keeps bf16 gradients as it keeps fp16's; BF16_Optimizer, at stage 0, theirs and their sum in fp32, and shards
// its own states.
TEST(model_states, of_deepspeed_in_bf16) {
    EXPECT_DOUBLE_EQ(states({"framework=deepspeed", "zero=0", "precision=bf16"}), 8 * P + 12 * P / d);
    EXPECT_DOUBLE_EQ(states({"framework=deepspeed", "zero=1", "precision=bf16"}), 4 * P + 12 * P / d);
    EXPECT_DOUBLE_EQ(states({"framework=deepspeed", "zero=3", "precision=bf16"}), 16 * P / d);
}

// hpZ: a second copy of the parameters among the ranks of its group.
TEST(model_states, hierarchical_partitions_hold_a_second_share) {
    const std::vector<std::string> plain{"framework=deepspeed", "zero=3"};
    std::vector<std::string> grouped = plain;
    grouped.emplace_back("deepspeed.hierarchical_ranks=2");
    const auto buffers = [](const std::vector<std::string>& settings) {
        return plan_of(settings).stages.front().memory.buffers.value;
    };
    EXPECT_DOUBLE_EQ(buffers(grouped) - buffers(plain), 2 * P / 2);
}

// Context ranks hold the same parameters as data ranks and share the states alike.
TEST(model_states, context_ranks_share_them_as_data_ranks_do) {
    for (const char* zero : {"zero=1", "zero=2", "zero=3"}) {
        EXPECT_DOUBLE_EQ(
            states({"framework=deepspeed", zero, "layout.data=2", "layout.context=2", "context_method=all_to_all"}),
            states({"framework=deepspeed", zero}))
            << zero;
    }
}

TEST(model_states, frameworks_share_them_by_their_own_names) {
    EXPECT_DOUBLE_EQ(states({"framework=ddp"}), 16 * P);
    EXPECT_DOUBLE_EQ(states({"framework=fsdp"}), 16 * P / d);
    EXPECT_DOUBLE_EQ(states({"framework=fsdp", "fsdp.strategy=shard_grad_op"}), 16 * P / d);
    EXPECT_DOUBLE_EQ(states({"framework=fsdp", "fsdp.strategy=hybrid_shard", "fsdp.shard_ranks=2"}), 16 * P / 2);
    EXPECT_DOUBLE_EQ(states({"framework=fsdp", "fsdp.strategy=hybrid_shard_zero2", "fsdp.shard_ranks=2"}), 16 * P / 2);
    EXPECT_DOUBLE_EQ(states({"framework=megatron", "zero=0"}), 16 * P);
    EXPECT_DOUBLE_EQ(states({"framework=megatron", "zero=1"}), 4 * P + 12 * P / d);
    // bf16 accumulates gradients in fp32.
    EXPECT_DOUBLE_EQ(states({"framework=megatron", "zero=0", "precision=bf16"}), 18 * P);
    EXPECT_DOUBLE_EQ(states({"framework=megatron", "zero=1", "precision=bf16"}), 6 * P + 12 * P / d);
}

// Backward through the last layer, FSDP has it gathered with the layer before, beside the embedding, the output layer
// and the last norm, of which the latter two have made gradients; the experts of every second layer are whole on every
// rank. A layer is attention of 4 h^2 + 4 h, two norms of 2 h, and a feed-forward of 8 h^2 + 5 h, or 4 experts of 2 h f
// + f + h and a router of 4 h, whose gradients are made meanwhile.
TEST(model_states, fsdp_gathers_layers_with_all_their_experts) {
    constexpr double f = 512, rest = 4 * h * h + 8 * h, dense = rest + 8 * h * h + 5 * h;
    constexpr double experts = rest + 4 * (2 * h * f + f + h) + 4 * h, root = 2 * V * h + 2 * h, head = V * h + 2 * h;
    const Plan plan = plan_of({"framework=fsdp", "model.experts.count=4", "model.experts.top_k=1",
                               "model.experts.ffn_hidden=512", "model.experts.every=2"});
    const StatesInTime states(plan.job, plan.stages.front(), {});
    EXPECT_LT(dense, experts);
    EXPECT_DOUBLE_EQ(states.in_layer(0, 7).copies.value, 2 * (dense + experts + root + head));
    EXPECT_DOUBLE_EQ(states.made(0, 6).all.value, 2 * experts);
    EXPECT_DOUBLE_EQ(states.made(0, 6).mlp.value, 2 * (experts - 4 * h * h - 8 * h));
}

// A layer keeps s b h (10 + 24 / t) bytes, under sequence parallelism s b h 34 / t, with full recomputation its input
// (Korthikanti et al. 2205.05198, flash attention, which keeps 4 bytes per row of scores); context ranks keep their
// share. A middle stage of p = 4 under 1F1B has p - 1 micro-batches under way.
TEST(model_states, activations_of_a_middle_stage) {
    struct Case {
        std::vector<std::string> settings;
        double bytes;  // of a layer over s b h
        double rows;   // of attention scores that one rank keeps the sum of, over b s: 8 heads
    };
    for (const Case& c : {Case{{}, 34, 8}, Case{{"layout.tensor=2"}, 10 + 24 / 2.0, 8 / 2.0},
                          Case{{"layout.tensor=2", "sequence_parallel=true"}, 34 / 2.0, 8 / 2.0},
                          Case{{"layout.context=2"}, 34 / 2.0, 8 / 2.0},
                          Case{{"layout.tensor=4", "sequence_parallel=true", "layout.context=2"}, 34 / 8.0, 8 / 8.0},
                          Case{{"recompute=full"}, 2, 0}, Case{{"recompute=full", "layout.context=4"}, 2 / 4.0, 0},
                          Case{{"recompute=full", "layout.tensor=2", "sequence_parallel=true"}, 2 / 2.0, 0}}) {
        std::vector<std::string> settings{"framework=megatron", "layout.pipeline=4", "layout.data=1", "batch.global=16",
                                          "dropout=true"};
        settings.insert(settings.end(), c.settings.begin(), c.settings.end());
        const Plan plan = plan_of(settings);
        EXPECT_DOUBLE_EQ(plan.stages.at(1).memory.activations.value, 3 * (L / 4) * s * b * (h * c.bytes + 4 * c.rows))
            << c.bytes << " bytes";
    }
}

}  // namespace
}  // namespace weft
