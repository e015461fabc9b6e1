#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/workloads/studies.hpp"
#include "workloads/explain/explanation.hpp"
#include "workloads/step/lanes.hpp"

namespace weft {
namespace {

// Fused and unfused attention, experts, recomputation, FSDP's copies, 8 bits, Muon, a host that is waited for.
std::vector<Study> some_studies() {
    std::vector<Study> studies;
    const std::vector<std::vector<std::string>> changes{
        {},
        {"attention=unfused", "recompute=full"},
        {"recompute=selective", "attention=unfused", "sequence_parallel=true"},
        {"model.experts.count=8", "model.experts.top_k=2", "layout.expert=2", "recompute=full",
         "sequence_parallel=true"},
        {"schedule=zb-h1", "optimizer=muon", "precision=bf16"},
        {"framework=fsdp", "layout.tensor=1", "layout.pipeline=1", "layout.data=16", "recompute=full"},
        {"framework=deepspeed", "zero=1", "recompute=full", "blocking_launches=true"},
        {"machine=dgx-h100", "precision=fp8"}};
    for (const std::vector<std::string>& overrides : changes) studies.push_back(test::small_study(overrides));
    return studies;
}

Explanation explained(const Study& study, ExplainedStep& step) {
    step = simulate_to_explain(study, {.folding = Folding::stages}, prepare(study));
    return explain(study, step);
}

// Of the first rank class of a stage, on the device, without what communication adds.
Seconds work_of(const ExplainedStep& step, std::uint32_t stage) {
    const Program& program = step.run.step.program;
    Seconds sum;
    for (RankClassId id{}; id != program.classes.end_id(); id = next(id)) {
        if (step.run.step.stage[id] != stage) continue;
        for (OpId op{program.classes[id].begin_op()}; index(op) < program.classes[id].end_op(); op = next(op)) {
            const Op& what = program.ops[op];
            if (what.kind == OpKind::compute && what.lane == lanes::compute) sum += program.work[what.subject];
        }
        return sum;
    }
    ADD_FAILURE() << "no class";
    return sum;
}

TEST(device_roofline, sums_to_what_a_rank_computes) {
    for (const Study& study : some_studies()) {
        ExplainedStep step;
        const Rooflines found = explained(study, step).rooflines;
        EXPECT_NEAR(found.device.busy() / work_of(step, found.stage), 1.0, 1e-9);
        EXPECT_LT(found.device.other / found.device.busy(), study.job.framework->name == "fsdp" ? 0.5 : 1e-9)
            << "kernels without a class";
    }
}

TEST(device_roofline, counts_the_flops_that_the_plan_counts) {
    const Study study =
        test::small_study({"attention=unfused", "layout.pipeline=1", "layout.data=8", "recompute=full"});
    const Plan plan = make_plan(study);
    Flops sum;
    for (const KernelClassUse& use : device_roofline(plan, 0).kernels) sum += use.flops;
    EXPECT_NEAR(sum.value * study.job.layout.ranks() / plan.hardware_flops.value, 1.0, 1e-6);
}

TEST(device_roofline, has_nothing_above_its_roof) {
    constexpr double rounding = 1 + 1e-9;
    for (const Study& study : some_studies()) {
        const Plan plan = make_plan(study);
        const DeviceRoofline device = device_roofline(plan, 0);
        EXPECT_LE(device.sustained.value, device.peak.value);
        for (const KernelClassUse& use : device.kernels) {
            if (use.bytes.value > 0.0) {
                EXPECT_LE(use.achieved_memory().value, device.memory.value * rounding) << use.name;
            }
            if (use.flops.value <= 0.0 || use.bytes.value <= 0.0) continue;
            EXPECT_LE(use.achieved().value, use.peak.value * rounding) << use.name;
            EXPECT_LE(use.achieved().value, use.intensity() * device.memory.value * rounding) << use.name;
            EXPECT_LE(use.achieved().value, device.roof(use).value * rounding) << use.name;
        }
    }
}

TEST(device_roofline, knows_what_bounds_a_class) {
    const DeviceRoofline device = device_roofline(make_plan(test::small_study()), 0);
    for (const KernelClassUse& use : device.kernels) {
        if (use.name == "element-wise" || use.name == "optimizer") {
            EXPECT_EQ(use.bound(), "memory");
        }
    }
    Study slow = test::small_study({"batch.sequence=64"});
    slow.device.kernel_launch = Seconds{1e-3};
    for (const KernelClassUse& use : device_roofline(make_plan(slow), 0).kernels) {
        if (use.name != "optimizer") {
            EXPECT_EQ(use.bound(), "gaps between kernels") << use.name;
        }
    }
}

// Layers of an encoder and of the language: together they have what the stage has.
TEST(kinds_of_layers, share_out_the_layers_of_a_stage) {
    const Plan plan = make_plan(test::small_study(
        {R"(model.encoder={"layers": 4, "hidden": 512, "heads": 8, "tokens": 256, "patch": 588, "merge": 4, "projector": [2048],
             "projector_norm": "layer_norm"})",
         "batch.images=1", "precision=bf16"}));
    const std::vector<LayerKindUse> kinds = kinds_of_layers(plan, 0);
    ASSERT_EQ(kinds.size(), 2U);
    EXPECT_EQ(kinds[0].kind, "encoder");
    EXPECT_EQ(kinds[0].layers, 4U);
    EXPECT_EQ(kinds[1].layers, 2U);
    EXPECT_NEAR(kinds[1].parameters, (12.0 * 1024 * 1024 + 13 * 1024) / 2, 6 * 1024);
    Bytes kept;
    for (const LayerKindUse& kind : kinds) {
        EXPECT_GT(kind.backward.value, kind.forward.value);
        kept += kind.activations * kind.layers;
    }
    const Chunk& chunk = plan.stages[0].chunks.front();
    EXPECT_LE(kept.value, chunk.activations.value);
    EXPECT_TRUE(kinds_of_layers(plan, 1).empty());
}

TEST(fabric_roofline, splits_the_time_of_calls_and_keeps_below_line_rate) {
    for (const Study& study : some_studies()) {
        ExplainedStep step;
        const Rooflines found = explained(study, step).rooflines;
        for (const FabricUse& use : found.fabric) {
            const Seconds parts = use.transfer + use.endpoint + use.latency + use.sharing;
            EXPECT_NEAR(parts / use.time, 1.0, 1e-6) << use.dimension;
            EXPECT_LE(use.line.value, use.time.value * (1 + 1e-6)) << use.dimension;
            EXPECT_GE(use.sharing.value, 0.0);
        }
    }
}

// Megatron reduces what it computed in: fp16.
TEST(fabric_roofline, counts_the_bytes_of_the_bus) {
    const Study study = test::small_study(
        {"layout.tensor=1", "layout.pipeline=1", "layout.data=8", "zero=0", "overlap_gradients=false"});
    ExplainedStep step;
    const Rooflines found = explained(study, step).rooflines;
    double gradients = 0;
    for (const FabricUse& use : found.fabric) gradients += use.dimension == "data" ? use.bytes.value : 0.0;
    const double parameters = make_plan(study).stages[0].parameters();
    constexpr double bytes_of_a_gradient = 2, of_eight = 2 * 7.0 / 8;
    EXPECT_NEAR(gradients / (parameters * bytes_of_a_gradient * of_eight), 1.0, 1e-3);
}

}  // namespace
}  // namespace weft
