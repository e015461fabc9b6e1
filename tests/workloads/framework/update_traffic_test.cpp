// Passes over gradients and parameters against lists by hand (bytes per parameter: read, written).
#include <gtest/gtest.h>

#include "tests/workloads/studies.hpp"
#include "workloads/plan/plan.hpp"

namespace weft {
namespace {

UpdateTraffic update(const std::vector<std::string>& settings) {
    const Job job = test::small_study(settings).job;
    return job.framework->update_traffic(job);
}

double accumulation(const std::vector<std::string>& settings) {
    const Job job = test::small_study(settings).job;
    return job.framework->accumulation(job).value;
}

TEST(update_traffic, of_fp16_copies_unscales_clips_updates_and_copies_back) {
    const UpdateTraffic traffic = update({"precision=fp16"});
    EXPECT_EQ(traffic.held, 2);  // cleared
    EXPECT_EQ(traffic.updated, (2 + 4) + (4 + 4) + 4 + (4 + 4) + (16 + 12) + (4 + 2));
}

TEST(update_traffic, of_bf16_with_fp32_gradients_has_no_scale_and_no_first_copy) {
    const UpdateTraffic traffic = update({"precision=bf16"});
    EXPECT_EQ(traffic.held, 4);
    EXPECT_EQ(traffic.updated, 4 + (4 + 4) + (16 + 12) + (4 + 2));
}

TEST(update_traffic, is_the_optimizers_time) {
    const Study study = test::small_study({"precision=bf16", "layout.pipeline=1", "layout.data=8"});
    const Plan plan = make_plan(study);
    const double bytes = plan.stages.front().parameters() * (4 + 46);
    const Device& device = plan.device;
    EXPECT_NEAR(plan.stages.front().optimizer.value,
                (device.kernel_launch + Bytes{bytes} / (device.memory_bandwidth * device.memory_efficiency)).value,
                1e-12);
}

TEST(update_traffic, is_shared_by_the_distributed_optimizer_but_for_clearing_gradients) {
    const auto time = [](const char* zero) {
        const Plan plan = make_plan(test::small_study({"layout.pipeline=1", "layout.data=8", zero}));
        return (plan.stages.front().optimizer - plan.device.kernel_launch).value;
    };
    const double updated = 60, held = 2;
    EXPECT_NEAR(time("zero=1") / time("zero=0"), (held + updated / 8) / (held + updated), 1e-9);
}

TEST(accumulation, is_fused_into_products_or_reads_two_gradients_and_writes_one) {
    EXPECT_EQ(accumulation({}), 0);
    EXPECT_EQ(accumulation({"megatron.fused_accumulation=false"}), 2 + 2 + 2);
    EXPECT_EQ(accumulation({"megatron.fused_accumulation=false", "precision=bf16"}), 2 + 4 + 4);
}

// The fused product of 2022 wrote fp32 only.
TEST(accumulation, is_fused_as_the_version_had_it) {
    EXPECT_EQ(accumulation({"megatron.version=2021", "precision=bf16"}), 2 + 4 + 4);
    EXPECT_EQ(accumulation({"megatron.version=2022"}), 2 + 2 + 2);
    EXPECT_EQ(accumulation({"megatron.version=2022", "precision=bf16"}), 0);
    EXPECT_EQ(accumulation({"megatron.version=2023"}), 0);
}

TEST(accumulation, of_a_single_micro_batch_is_none_where_its_gradient_is_kept) {
    const std::vector<std::string> one{"framework=deepspeed", "batch.global=2"};
    EXPECT_EQ(accumulation(one), 0);
    EXPECT_EQ(accumulation({"framework=deepspeed"}), 6);
}

TEST(accumulation, lengthens_weight_gradients_by_its_bytes) {
    const Study fused = test::small_study(), apart = test::small_study({"megatron.fused_accumulation=false"});
    const Plan a = make_plan(fused), b = make_plan(apart);
    double extra = 0;
    for (std::size_t i = 0; i < a.costs.layers[0].pieces.size(); ++i) {
        extra += (b.costs.layers[0].pieces[i].weight_backward - a.costs.layers[0].pieces[i].weight_backward).value;
    }
    const double elements = 12.0 * 1024 * 1024 / 2;  // of four matrices on two tensor ranks
    const Device& device = a.device;
    const Seconds moving = Bytes{6 * elements} / (device.memory_bandwidth * device.memory_efficiency);
    EXPECT_NEAR(extra, (moving + device.kernel_launch * 4).value, 1e-12);
}

}  // namespace
}  // namespace weft
