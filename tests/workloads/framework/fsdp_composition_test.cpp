// fully_shard with other parallelism: what one scheme does alone it does beside the others, to the byte.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/workloads/studies.hpp"
#include "workloads/plan.hpp"
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

Counted calls_of(const Study& study, GroupKind group) {
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

Counted calls_of(const Settings& more, GroupKind group) { return calls_of(test::small_study(composed(more)), group); }

const Settings tensor_ranks{"layout.tensor=4", "sequence_parallel=true"};

Settings with(Settings base, const Settings& more) {
    base.insert(base.end(), more.begin(), more.end());
    return base;
}

// One data rank: what Megatron's tensor ranks do under sequence parallelism, without the inputs that it gathers again,
// its batches and its one sum of norms for all layers.
TEST(fsdp_composition, one_data_rank_is_tensor_parallelism_alone) {
    const Counted own = calls_of(tensor_ranks, GroupKind::tensor);
    Settings megatron = with(composed(tensor_ranks), {"framework=megatron"});
    std::erase(megatron, "fsdp.version=2");
    Counted theirs = calls_of(test::small_study(megatron), GroupKind::tensor);
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
    EXPECT_TRUE(calls_of(tensor_ranks, GroupKind::data).empty());
}

// Whatever else there is, the calls of tensor ranks for a micro-batch are those of tensor parallelism alone.
TEST(fsdp_composition, data_ranks_change_nothing_among_tensor_ranks) {
    EXPECT_EQ(calls_of(with(tensor_ranks, {"layout.data=8", "batch.global=32"}), GroupKind::tensor),
              calls_of(tensor_ranks, GroupKind::tensor));
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
    const Counted own = calls_of(with(tensor_ranks, {"layout.data=8", "batch.global=32"}), GroupKind::data);
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
    const Counted data = calls_of({"layout.data=8", "batch.global=32"}, GroupKind::data);
    const Counted context = calls_of({"layout.data=4", "layout.context=2", "batch.global=16"}, GroupKind::data);
    EXPECT_EQ(context, data);
    const Counted hybrid = calls_of(
        {"layout.data=4", "layout.context=2", "batch.global=16", "fsdp.strategy=hybrid_shard", "fsdp.shard_ranks=2"},
        GroupKind::data_inner);
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
                     GroupKind::data);
        EXPECT_EQ((own[{"all-gather parameters", 2 * layer}]), 8);
        EXPECT_EQ((own[{"reduce-scatter gradients", 2 * layer}]), 8);
    }
}

// Experts are sharded over the ranks that hold the same ones, apart from the layer that they are in.
TEST(fsdp_composition, experts_are_sharded_over_the_ranks_that_are_left) {
    const Settings experts{"model.experts={\"count\": 8, \"top_k\": 2, \"ffn_hidden\": 512}", "layout.data=8",
                           "batch.global=32", "layout.expert=4"};
    Counted apart = calls_of(experts, GroupKind::expert_data);
    const double h = 1024, two_of_them = 2 * 2 * 512 * h;
    EXPECT_EQ((apart[{"all-gather parameters", 2 * two_of_them}]), 4 * 8 * 2);
    EXPECT_EQ((apart[{"reduce-scatter gradients", 2 * two_of_them}]), 4 * 8);
    Counted dense = calls_of(experts, GroupKind::data);
    EXPECT_EQ((dense[{"all-gather parameters", 2 * (4 * h * h + 8 * h + 2 * h)}]), 4 * 8 * 2);
}

TEST(fsdp_composition, folded_is_unfolded) {
    for (const Settings& more : std::vector<Settings>{
             with(tensor_ranks, {"layout.data=4", "batch.global=16"}),
             with(tensor_ranks, {"layout.pipeline=2", "layout.data=2", "batch.global=8", "layout.split=even"}),
             {"layout.context=2", "layout.pipeline=2", "layout.data=4", "batch.global=16", "schedule=zb-v",
              "context_method=all_gather", "layout.split=even"},
             {"layout.data=16", "batch.global=16", "fsdp.reshard_after_forward=4"},
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
