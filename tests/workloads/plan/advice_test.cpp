// Advice is only what was tried: each change, taken as the job file would have it, needs what was promised.
#include "workloads/plan/plan.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "tests/workloads/studies.hpp"

namespace weft {
namespace {

// 64 GiB devices; a model whose activations are too much.
std::vector<std::string> too_large() {
    return {"model.hidden=8192", "model.heads=64",    "model.layers=32", "batch.micro=4",    "batch.sequence=4096",
            "layout.tensor=2",   "layout.pipeline=4", "layout.data=8",   "batch.global=256", "zero=1"};
}

Bytes peak(const Plan& plan) { return plan.stages.at(plan.fullest_stage()).memory.total(); }

TEST(memory_advice, is_what_the_changed_job_needs) {
    const Study study = test::small_study(too_large());
    const Plan plan = make_plan(study);
    ASSERT_FALSE(plan.fits());
    const std::vector<MemoryAdvice> advice = memory_advice(study);
    ASSERT_FALSE(advice.empty());
    for (const MemoryAdvice& each : advice) {
        std::vector<std::string> settings = too_large();
        for (const std::string& change : each.changes) {
            std::istringstream words(change);
            for (std::string word; words >> word;) settings.push_back(word);
        }
        const Plan changed = make_plan(test::small_study(settings));
        EXPECT_EQ(peak(changed), each.peak) << each.changes.front();
        EXPECT_DOUBLE_EQ((peak(plan) - each.peak).value, each.saved.value);
        EXPECT_EQ(each.peak <= changed.device.memory, each.fits);
    }
}

TEST(memory_advice, begins_with_what_suffices) {
    const std::vector<MemoryAdvice> advice = memory_advice(test::small_study(too_large()));
    ASSERT_FALSE(advice.empty());
    EXPECT_TRUE(advice.front().fits);
}

// No data rank to share with, one sequence, one layer per stage: only recomputation is left, and it is said.
TEST(memory_advice, offers_nothing_impossible) {
    const Study study = test::small_study({"layout.data=1", "layout.tensor=1", "layout.pipeline=8", "batch.global=16",
                                           "batch.sequence=65536", "model.hidden=16384", "recompute=full"});
    for (const MemoryAdvice& each : memory_advice(study)) {
        for (const std::string& change : each.changes) EXPECT_EQ(change, "megatron.fused_cross_entropy=true");
    }
}

TEST(largest_part, is_named) {
    const LargestPart largest = largest_part({1_B, 2_B, 4_B, 64_B, 16_B, 32_B, {1_B, 8_B, 128_B}});
    EXPECT_EQ(largest.name, "activations");
    EXPECT_EQ(largest.bytes, 64_B);
}

}  // namespace
}  // namespace weft
