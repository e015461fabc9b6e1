// fully_shard with other parallelism: what one scheme does alone it does beside the others, to the byte.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/refusal.hpp"
#include "tests/workloads/studies.hpp"
#include "workloads/parallelism/scheme.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/plan/stage_memory.hpp"
#include "workloads/report/report.hpp"
#include "workloads/report/simulation.hpp"
#include "workloads/stage/stage_script.hpp"

namespace weft {
namespace {

using Settings = std::vector<std::string>;
// Label and group of a call, and its message: how often a step has it.
using Counted = std::map<std::pair<std::string, double>, double>;

Settings composed(const Settings& more) {
    Settings all{"framework=fsdp", "fsdp.version=2",  "machine=dgx-h100",    "model.vocabulary=1024",
                 "precision=bf16", "layout.tensor=1", "layout.pipeline=1",   "layout.data=1",
                 "batch.global=4", "batch.micro=1",   "model.norm=rms_norm", "model.biases=false"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

Counted calls_of(const Study& study, RankGroups group) {
    const Plan plan = make_plan(study);
    Counted counted;
    for (std::uint32_t stage = 0; stage < plan.job.layout.pipeline; ++stage) {
        const Script script = step_script(plan, stage, StepKind::steady);
        for (const Action& action : script.actions()) {
            if (action.kind != Action::Kind::call && action.kind != Action::Kind::issue) continue;
            const Call& call = script.calls()[action.subject];
            if (call.group == group) counted[{std::string(call.label), call.message.value}] += 1;
        }
    }
    return counted;
}

Counted calls_of(const Settings& more, RankGroups group) { return calls_of(test::small_study(composed(more)), group); }

const Settings tensor_ranks{"layout.tensor=4", "sequence_parallel=true"};

Settings with(Settings base, const Settings& more) {
    base.insert(base.end(), more.begin(), more.end());
    return base;
}

TEST(fsdp_composition, tensor_ranks_share_tokens_where_nothing_is_said) {
    EXPECT_EQ(calls_of({"layout.tensor=4"}, RankGroups{"tensor"}), calls_of(tensor_ranks, RankGroups{"tensor"}));
    EXPECT_EQ(test::mistake_at(composed({"layout.tensor=4", "sequence_parallel=false"}), "sequence_parallel"),
              "torchtitan's tensor parallelism shares tokens between maps");
}

// One data rank: what Megatron's tensor ranks do under sequence parallelism, without the inputs that it gathers again,
// its batches and its one sum of norms for all layers.
TEST(fsdp_composition, one_data_rank_is_tensor_parallelism_alone) {
    const Counted own = calls_of(tensor_ranks, RankGroups{"tensor"});
    Settings megatron = with(composed(tensor_ranks), {"framework=megatron"});
    std::erase(megatron, "fsdp.version=2");
    Counted theirs = calls_of(test::small_study(megatron), RankGroups{"tensor"});
    const double state = 2.0 * 1024 * 1024, norm = 2.0 * 1024;
    EXPECT_EQ((theirs[{"all-gather saved input", state}]), 4 * 8 * 2);
    EXPECT_EQ((theirs[{"all-gather head input", state}]), 4 * 2) << "again in backward";
    std::erase_if(theirs, [](const auto& each) {
        const std::string& label = each.first.first;
        return label == "all-gather saved input" || label == "all-reduce norm gradients" ||
               label.starts_with("broadcast");
    });
    theirs[{"all-gather head input", state}] = 4;
    theirs[{"all-reduce norm gradients", norm}] = 4 * (8 * 2 + 1);
    theirs[{"all-reduce gradient norm", 4}] = 1;
    EXPECT_EQ(own, theirs);
    EXPECT_TRUE(calls_of(tensor_ranks, copy_axes()).empty());
}

// Whatever else there is, the calls of tensor ranks for a micro-batch are those of tensor parallelism alone.
TEST(fsdp_composition, data_ranks_change_nothing_among_tensor_ranks) {
    EXPECT_EQ(calls_of(with(tensor_ranks, {"layout.data=8", "batch.global=32"}), RankGroups{"tensor"}),
              calls_of(tensor_ranks, RankGroups{"tensor"}));
}

// What Megatron gathers again in backward is kept whole: the inputs of both column-parallel maps.
TEST(fsdp_composition, tensor_ranks_keep_the_inputs_of_maps_whole) {
    const Job job = test::small_study(composed(tensor_ranks)).job;
    const auto kept = [&](MapInputs inputs) {
        return layer_activations(job.model, LayerKind::dense, job.shard(), {.map_inputs = inputs}).value;
    };
    const double state = 2.0 * 1024 * 1024;
    EXPECT_EQ(kept(MapInputs::kept) - kept(MapInputs::gathered_again), 2 * state * 3 / 4);
}

// Each tensor rank shards what it has: of the matrices a fourth.
TEST(fsdp_composition, tensor_ranks_shard_what_they_hold) {
    const Counted own = calls_of(with(tensor_ranks, {"layout.data=8", "batch.global=32"}), copy_axes());
    const double h = 1024, layer = 12 * h * h / 4 + 2 * h, table = 1024 * h / 4;
    const Counted expected{{{"all-gather parameters", 2 * layer}, 4 * 8 * 2},
                           {{"all-gather parameters", 2 * table}, 4 * 2},
                           {{"all-gather parameters", 2 * (table + h)}, 4},
                           {{"reduce-scatter gradients", 2 * layer}, 4 * 8},
                           {{"reduce-scatter gradients", 2 * table}, 4},
                           {{"reduce-scatter gradients", 2 * (table + h)}, 4},
                           {{"all-reduce gradient norm", 4}, 1}};
    EXPECT_EQ(own, expected);
}

// Context ranks hold what data ranks hold, and shard it with them.
TEST(fsdp_composition, context_ranks_shard_as_data_ranks_do) {
    const Counted data = calls_of({"layout.data=8", "batch.global=32"}, copy_axes());
    const Counted context = calls_of({"layout.data=4", "layout.context=2", "batch.global=16"}, copy_axes());
    EXPECT_EQ(context, data);
    const Counted hybrid = calls_of(
        {"layout.data=4", "layout.context=2", "batch.global=16", "fsdp.strategy=hybrid_shard", "fsdp.shard_ranks=2"},
        RankGroups::inner(copy_axes()));
    const auto gathers = [](const Counted& counted) {
        double bytes = 0;
        for (const auto& [call, times] : counted)
            bytes += call.first.starts_with("all-gather") ? call.second * times : 0;
        return bytes;
    };
    EXPECT_EQ(gathers(hybrid), gathers(data)) << "2 data ranks x 2 context ranks gather as much";
}

// Every parameter of every stage is gathered once and reduced once in a step of a pipeline.
TEST(fsdp_composition, a_pipeline_gathers_and_reduces_each_layer_once) {
    const double h = 1024, layer = 12 * h * h + 2 * h;
    for (const Settings& pipeline : std::vector<Settings>{{"schedule=1f1b"},
                                                          {"schedule=interleaved", "layout.virtual_stages=2"},
                                                          {"schedule=zb-v"},
                                                          {"schedule=gpipe"}}) {
        SCOPED_TRACE(pipeline.front());
        Counted own =
            calls_of(with(pipeline, {"layout.pipeline=2", "layout.data=4", "batch.global=16", "layout.split=even"}),
                     copy_axes());
        EXPECT_EQ((own[{"all-gather parameters", 2 * layer}]), 8);
        EXPECT_EQ((own[{"reduce-scatter gradients", 2 * layer}]), 8);
    }
}

// Experts are sharded over the ranks that hold the same ones, apart from the layer that they are in.
TEST(fsdp_composition, experts_are_sharded_over_the_ranks_that_are_left) {
    const Settings experts{"model.experts={\"count\": 8, \"top_k\": 2, \"ffn_hidden\": 512}", "layout.data=8",
                           "batch.global=32", "layout.expert=4"};
    Counted apart = calls_of(experts, RankGroups{"expert_data"});
    const double h = 1024, two_of_them = 2 * 2 * 512 * h;
    EXPECT_EQ((apart[{"all-gather parameters", 2 * two_of_them}]), 4 * 8 * 2);
    EXPECT_EQ((apart[{"reduce-scatter gradients", 2 * two_of_them}]), 4 * 8);
    Counted dense = calls_of(experts, copy_axes());
    EXPECT_EQ((dense[{"all-gather parameters", 2 * (4 * h * h + 8 * h + 2 * h)}]), 4 * 8 * 2);
}

// 8 layers, 1024 hidden, 1024 tokens, 4 micro-batches; two choices of a token, and shared experts.
const Settings cut_experts =
    with(tensor_ranks, {"model.experts={\"count\": 8, \"top_k\": 2, \"ffn_hidden\": 512, \"shared\": 1}",
                        "model.gated=true", "layout.data=4", "batch.global=16"});
constexpr double layer_calls = 4 * 8;              // a call of a layer in a step
constexpr double whole_state = 2.0 * 1024 * 1024;  // bytes of all tokens

// torchtitan 238fa9953e4a, models/llama4/infra/parallelize.py (apply_moe_ep_tp) by hand. Attention: gathered, dealt
// out, and so backward. Experts: gathered before the router, dealt out after the shared experts; backward gathered, and
// the inputs' gradient summed for each of the shared experts' two maps.
Counted calls_of_tensor_ranks() {
    return {{{"all-gather layer", whole_state}, 2 * layer_calls},
            {{"reduce-scatter layer", whole_state}, 2 * layer_calls},
            {{"all-gather output gradient", whole_state}, 2 * layer_calls},
            {{"reduce-scatter input gradient", whole_state}, layer_calls + 4},
            {{"all-reduce shared experts' input gradient", whole_state}, 2 * layer_calls},
            {{"reduce-scatter embedding", whole_state}, 4},
            {{"all-gather embedding gradient", whole_state}, 4},
            {{"all-gather head input", whole_state}, 4},
            {{"all-reduce loss maximum", 4 * 1024.0}, 4},
            {{"all-reduce target logit", 4 * 1024.0}, 4},
            {{"all-reduce loss sum", 4 * 1024.0}, 4},
            {{"all-reduce norm gradients", 2.0 * 1024}, 4 * (8 * 2 + 1)},
            {{"all-reduce gradient norm", 4}, 1}};
}

// Experts that no ranks share are cut as the other maps are, and gathered with their layer. Each tensor rank has a part
// of the gradient of all copies of all tokens.
TEST(fsdp_composition, tensor_ranks_cut_experts_as_other_maps) {
    EXPECT_EQ(calls_of(cut_experts, RankGroups{"tensor"}), calls_of_tensor_ranks());
    EXPECT_EQ(calls_of(cut_experts, RankGroups{"expert_tensor"}),
              (Counted{{{"all-reduce copies' gradients", 2 * whole_state}, layer_calls}}));
    EXPECT_TRUE(calls_of(cut_experts, RankGroups{"expert"}).empty());
    const double h = 1024, expert = 3 * 512 * h;
    const double layer = (4 * h * h + 8 * expert + expert) / 4 + 8 * h + 2 * h;
    Counted data = calls_of(cut_experts, copy_axes());
    EXPECT_EQ((data[{"all-gather parameters", 2 * layer}]), 2 * layer_calls);
    EXPECT_EQ((data[{"reduce-scatter gradients", 2 * layer}]), layer_calls);
    EXPECT_TRUE(calls_of(cut_experts, RankGroups{"expert_data"}).empty());
}

// ExpertTensorParallel: each tensor rank sends the copies of all tokens to its part of their experts.
TEST(fsdp_composition, tensor_ranks_that_cut_shared_experts_send_all_copies) {
    const Settings shared = with(cut_experts, {"layout.expert=4", "layout.expert_tensor=4"});
    EXPECT_EQ(calls_of(shared, RankGroups{"tensor"}), calls_of_tensor_ranks());
    Counted tokens{{{"all-to-all expert counts", 8 * 8.0}, layer_calls}, {{"all-reduce gradient norm", 4}, 1}};
    for (const char* label :
         {"all-to-all dispatch", "all-to-all combine", "all-to-all combine gradient", "all-to-all dispatch gradient"}) {
        tokens[{label, 2 * whole_state}] = layer_calls;
    }
    EXPECT_EQ(calls_of(shared, RankGroups{"expert"}), tokens);
    EXPECT_EQ(calls_of(shared, RankGroups{"expert_tensor"}),
              (Counted{{{"all-reduce copies' gradients", 2 * whole_state}, layer_calls},
                       {{"all-reduce gradient norm", 4}, 1}}));
    EXPECT_TRUE(calls_of(shared, RankGroups{"expert_data"}).empty()) << "16 ranks of a stage are 4 x 4";
    // As many copies as where one tensor rank sends them.
    const Settings alone = with(shared, {"layout.tensor=1", "layout.expert_tensor=1", "layout.data=8"});
    EXPECT_EQ((calls_of(alone, RankGroups{"expert"})[{"all-to-all dispatch", 2 * whole_state}]), 2 * 8);
}

// ReordererSequenceParallel: each tensor rank sends the copies of its part of the tokens to whole experts.
TEST(fsdp_composition, tensor_ranks_share_the_copies_for_whole_experts) {
    const Settings whole = with(cut_experts, {"layout.expert=8", "layout.expert_tensor=1"});
    EXPECT_EQ(calls_of(whole, RankGroups{"tensor"}), calls_of_tensor_ranks());
    Counted tokens = calls_of(whole, RankGroups{"expert"});
    EXPECT_EQ((tokens[{"all-to-all dispatch", 2 * whole_state / 4}]), layer_calls);
    EXPECT_TRUE(calls_of(whole, RankGroups{"expert_tensor"}).empty());
    // One of 8 experts on each rank, on 2 of 16 ranks: each of these shards its second dimension.
    Counted own = calls_of(whole, RankGroups{"expert_data"});
    EXPECT_EQ((own[{"all-gather parameters", 2 * 3 * 512 * 1024.0}]), 2 * layer_calls);
    EXPECT_EQ((own[{"reduce-scatter gradients", 2 * 3 * 512 * 1024.0}]), layer_calls);
}

// Whatever the way, a step's products are those of the model.
TEST(fsdp_composition, experts_cut_otherwise_compute_as_much) {
    const auto flops = [](const Settings& more) {
        const Study study = test::small_study(composed(with(cut_experts, more)));
        double sum = 0;
        for (const LayerPiece& piece : layer_pieces(study.job.model, LayerKind::expert, study.job.shard())) {
            for (const Kernel& kernel : piece.forward) {
                if (piece.piece == Piece::experts && kernel.parameters) sum += kernel.flops.value;
            }
        }
        return sum;
    };
    EXPECT_DOUBLE_EQ(flops({}), flops({"layout.expert=4"}));
    EXPECT_DOUBLE_EQ(flops({}), flops({"layout.expert=8", "layout.expert_tensor=1"}));
}

// dp_replicate x efsdp x ep x etp: two replicas of 8 ranks each have all experts, 4 ways, sharded 2 ways.
TEST(fsdp_composition, experts_of_hybrid_shards_are_summed_over_the_replicas) {
    const Settings hybrid{"model.experts={\"count\": 8, \"top_k\": 2, \"ffn_hidden\": 512}",
                          "layout.data=16",
                          "batch.global=64",
                          "layout.expert=4",
                          "fsdp.strategy=hybrid_shard",
                          "fsdp.shard_ranks=8",
                          "fsdp.reduce_precision=fp32"};
    const double two_of_them = 2 * 2 * 512 * 1024.0;
    EXPECT_EQ(calls_of(hybrid, RankGroups::inner({"expert_data"})),
              (Counted{{{"all-gather parameters", 2 * two_of_them}, 2 * layer_calls},
                       {{"reduce-scatter gradients", 4 * two_of_them}, layer_calls},
                       {{"all-reduce gradient norm", 4}, 1}}));
    EXPECT_EQ(calls_of(hybrid, RankGroups::outer({"expert_data"})),
              (Counted{{{"all-reduce gradient shards", 4 * two_of_them / 2}, layer_calls}}));
    EXPECT_TRUE(calls_of(hybrid, RankGroups{"expert_data"}).empty());
    const Plan plan = make_plan(test::small_study(composed(hybrid)));
    const Stage& stage = plan.stages.front();
    EXPECT_EQ(stage.expert, 8 * two_of_them);
    EXPECT_EQ(updated_parameters(plan.job, stage), stage.dense / 8 + stage.expert / 2);
    EXPECT_EQ(memory_use(plan.job, stage).parameters.value, 4 * (stage.dense / 8 + stage.expert / 2));
}

std::vector<double> metrics_of(const Settings& more) {
    const Study study = test::small_study(composed(more));
    std::vector<double> values;
    for (const auto& metric : make_report(simulate_step(study, make_plan(study))).metrics)
        values.push_back(metric.value);
    return values;
}

TEST(fsdp_composition, one_replica_is_full_sharding) {
    for (const Settings& more :
         {with(cut_experts, {"layout.expert=4"}), with(cut_experts, {"layout.expert=4", "layout.expert_tensor=1"}),
          Settings{"layout.data=4", "batch.global=16"}}) {
        EXPECT_EQ(metrics_of(more), metrics_of(with(more, {"fsdp.strategy=hybrid_shard", "fsdp.shard_ranks=4"})));
    }
}

// One tensor rank cuts nothing and gathers nothing, whatever it is said to: to the byte.
TEST(fsdp_composition, one_tensor_rank_is_sharding_alone) {
    const Settings alone{"layout.data=8", "batch.global=32"}, composed{"layout.tensor=1", "sequence_parallel=true"};
    EXPECT_EQ(calls_of(with(alone, composed), copy_axes()), calls_of(alone, copy_axes()));
    EXPECT_EQ(metrics_of(with(alone, composed)), metrics_of(alone));
    EXPECT_TRUE(calls_of(with(alone, composed), RankGroups{"tensor"}).empty());
}

TEST(fsdp_composition, one_tensor_rank_has_whole_experts) {
    const Settings alone{"model.experts={\"count\": 8, \"top_k\": 2, \"ffn_hidden\": 512}", "layout.data=8",
                         "batch.global=32", "layout.expert=4"};
    EXPECT_EQ(metrics_of(alone), metrics_of(with(alone, {"sequence_parallel=true", "layout.expert_tensor=1"})));
    EXPECT_TRUE(calls_of(alone, RankGroups{"tensor"}).empty());
    EXPECT_TRUE(calls_of(alone, RankGroups{"expert_tensor"}).empty());
}

// torch/distributed/tensor/experimental/_attention.py by hand, C context ranks, S the own keys and values: forward
// C - 1 times S, backward that again and C times the gradients of both in fp32, or C S gathered once each way.
TEST(fsdp_composition, context_ranks_rotate_as_pytorch_does) {
    const Settings four{"layout.context=4", "layout.data=2", "batch.global=8"};
    const double own = 2.0 * 2 * 256 * 1024;
    EXPECT_EQ(calls_of(with(four, {"context_method=ring"}), RankGroups{"context"}),
              (Counted{{{"pass keys and values", own}, 2 * 3 * layer_calls},
                       {{"pass key and value gradients", 2 * own}, 4 * layer_calls}}));
    EXPECT_EQ(calls_of(with(four, {"context_method=all_gather"}), RankGroups{"context"}),
              (Counted{{{"all-gather keys and values", 4 * own}, 2 * layer_calls},
                       {{"pass key and value gradients", 2 * own}, 4 * layer_calls}}));
}

// Under each round goes what later ones use; of the gradients only the last sum is waited for.
TEST(fsdp_composition, rounds_of_attention_hide_what_rotates) {
    const Job job = test::small_study(composed({"layout.context=4", "layout.data=2", "batch.global=8"})).job;
    Around around;
    find_scheme("context")->around(job, Piece::core, Pass::backward, around);
    ASSERT_EQ(around.rounds.size(), 4U);
    std::vector<std::size_t> calls;
    for (const std::vector<Call>& round : around.rounds) calls.push_back(round.size());
    EXPECT_EQ(calls, (std::vector<std::size_t>{1, 2, 2, 1}));
    EXPECT_EQ(around.rounds.back().front().label, "pass key and value gradients");
    EXPECT_EQ(around.after.size(), 1U);
    EXPECT_TRUE(around.before.empty());
}

std::string refusal_of(const Settings& more) {
    return test::refusal_of([&] { test::small_study(composed(more)); });
}

TEST(fsdp_composition, experts_that_cannot_be_shared_so_are_refused_with_numbers) {
    for (const auto& [more, word] : std::vector<std::pair<Settings, std::string>>{
             {with(cut_experts, {"layout.expert_tensor=1"}), "over the 4 tensor ranks"},
             {with(cut_experts, {"layout.expert=4", "fsdp.strategy=hybrid_shard", "fsdp.shard_ranks=2"}),
              "expert 4 x expert_tensor 4 = 16 does not divide the 8 ranks"},
             {with(cut_experts, {"layout.expert=8", "layout.expert_tensor=1", "layout.data=12", "batch.global=48"}),
              "6 ranks that share 1 experts cut each of them, and divide its 512 units or its 1024 outputs unevenly"},
             {with(cut_experts, {"layout.expert=2", "fsdp.strategy=hybrid_shard", "fsdp.shard_ranks=2",
                                 "layout.order=tensor,data,context,pipeline", "layout.context=2"}),
              "data as the outermost axis of a stage, not context"},
             {{"layout.context=4", "layout.tensor=2", "sequence_parallel=true", "batch.sequence=1032"},
              "1032 tokens cannot be cut into 16 equal pieces"}}) {
        const std::string refusal = refusal_of(more);
        EXPECT_NE(refusal.find(word), std::string::npos) << word << ": " << refusal;
    }
}

TEST(fsdp_composition, folded_is_unfolded) {
    for (const Settings& more : std::vector<Settings>{
             with(tensor_ranks, {"layout.data=4", "batch.global=16"}),
             with(tensor_ranks, {"layout.pipeline=2", "layout.data=2", "batch.global=8", "layout.split=even"}),
             {"layout.context=2", "layout.pipeline=2", "layout.data=4", "batch.global=16", "schedule=zb-v",
              "context_method=all_gather", "layout.split=even"},
             {"layout.data=16", "batch.global=16", "fsdp.reshard_after_forward=4"},
             with(cut_experts,
                  {"layout.expert=8", "layout.expert_tensor=1", "fsdp.strategy=hybrid_shard", "fsdp.shard_ranks=2"}),
             {"model.experts={\"count\": 8, \"top_k\": 2, \"ffn_hidden\": 512}", "layout.data=8", "layout.expert=4",
              "layout.pipeline=2", "batch.global=32", "layout.split=even"}}) {
        SCOPED_TRACE(more.front());
        const Study study = test::small_study(composed(more));
        const auto report = [&](Folding folding) {
            return make_report(simulate_step(study, make_plan(study), {.folding = folding}));
        };
        const Report folded = report(Folding::stages), unfolded = report(Folding::none);
        for (std::size_t i = 0; i < folded.metrics.size(); ++i) {
            EXPECT_NEAR(folded.metrics[i].value, unfolded.metrics[i].value, 1e-9 * std::abs(unfolded.metrics[i].value))
                << folded.metrics[i].key;
        }
    }
}

}  // namespace
}  // namespace weft
