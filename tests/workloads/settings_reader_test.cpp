// The framework objects of a job file.
#include <gtest/gtest.h>

#include "tests/workloads/studies.hpp"

namespace weft {
namespace {

TEST(settings, have_the_frameworks_own_defaults) {
    const Job job = test::small_study().job;
    EXPECT_EQ(job.deepspeed.prefetch_elements, 5e7);
    EXPECT_EQ(job.deepspeed.persistence_elements, 1e5);
    EXPECT_EQ(job.deepspeed.max_live_elements, 1e9);
    EXPECT_EQ(job.deepspeed.multi_rank_allreduce, Setting::on);
    EXPECT_EQ(job.fsdp.strategy, Sharding::full);
    EXPECT_EQ(job.ddp.bucket_mib, 25);
    EXPECT_EQ(job.experts.imbalance, 1);
    EXPECT_EQ(job.context_method, ContextMethod::ring);
    EXPECT_EQ(job.step, StepKind::steady);
}

TEST(settings, are_read_under_their_frameworks_key) {
    const Job job =
        test::small_study({"framework=fsdp", "layout.tensor=1", "layout.pipeline=1", "layout.data=16",
                           "fsdp.strategy=hybrid_shard", "fsdp.shard_ranks=4", "fsdp.version=2",
                           "fsdp.backward_prefetch=post", "fsdp.reduce_precision=fp32", "fsdp.limit_all_gathers=false"})
            .job;
    EXPECT_EQ(job.fsdp.strategy, Sharding::hybrid);
    EXPECT_EQ(job.layout.shard_ranks, 4U);
    EXPECT_EQ(job.fsdp.version, 2U);
    EXPECT_EQ(job.fsdp.backward_prefetch, BackwardPrefetch::after);
    EXPECT_EQ(job.fsdp.reduce_bytes, 4);
    EXPECT_EQ(job.fsdp.limit_all_gathers, Setting::off);
}

// Gradient reduction overlaps where the framework's shipped configurations have it so.
TEST(settings, overlap_follows_the_framework_unless_given) {
    const auto overlap = [](std::vector<std::string> settings) {
        return test::small_study(settings).job.gradient_overlap;
    };
    const std::vector<std::string> flat{"framework=deepspeed", "layout.tensor=1", "layout.pipeline=1"};
    auto zero = flat, off = flat;
    zero.push_back("zero=1");
    off.insert(off.end(), {"zero=1", "overlap_gradients=false"});
    EXPECT_EQ(overlap(zero), Setting::on);
    EXPECT_EQ(overlap(off), Setting::off);
    EXPECT_EQ(overlap(flat), Setting::off) << "stage 0 reduces after the backward pass";
    EXPECT_EQ(overlap({"framework=deepspeed", "zero=1"}), Setting::off) << "the pipeline engine switches it off";
    EXPECT_EQ(overlap({"framework=megatron"}), Setting::off);
}

std::string errors_of(const std::vector<std::string>& settings) {
    try {
        test::small_study(settings);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

TEST(settings, refuse_what_they_do_not_know_and_what_cannot_be) {
    EXPECT_NE(errors_of({"deepspeed.prefetch=1"}).find("deepspeed.prefetch: unknown key"), std::string::npos);
    EXPECT_NE(errors_of({"deepspeed.prefetch=1"}).find("prefetch_elements"), std::string::npos) << "names the key";
    EXPECT_NE(errors_of({"deepspeed.max_live_elements=-1"}).find("at least 0"), std::string::npos);
    EXPECT_NE(errors_of({"deepspeed.sub_group_elements=0"}).find("at least 1"), std::string::npos);
    EXPECT_NE(errors_of({"fsdp.version=3"}).find("expected 1 or 2, got 3"), std::string::npos);
    EXPECT_NE(errors_of({"fsdp.strategy=zero"}).find("full_shard"), std::string::npos);
    EXPECT_NE(errors_of({"ddp.bucket_mib=0"}).find("positive"), std::string::npos);
    EXPECT_NE(errors_of({"experts.imbalance=0.5"}).find("at least 1"), std::string::npos);
    EXPECT_NE(errors_of({"experts.capacity_factor=-1"}).find("positive factor"), std::string::npos);
    EXPECT_NE(errors_of({"first_use=2"}).find("first_use"), std::string::npos) << "a duration has a unit";
    EXPECT_NE(errors_of({"step=third"}).find("steady, first"), std::string::npos);
}

}  // namespace
}  // namespace weft
