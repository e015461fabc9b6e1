// Keys of frameworks and experts in a job file.
#include <gtest/gtest.h>

#include "tests/workloads/studies.hpp"

namespace weft {
namespace {

TEST(settings, have_the_frameworks_own_defaults) {
    const Job job = test::small_study().job;
    EXPECT_EQ(job.deepspeed.prefetch_elements, 5e7);
    EXPECT_EQ(job.deepspeed.persistence_elements, 1e5);
    EXPECT_EQ(job.deepspeed.max_live_elements, 1e9);
    EXPECT_EQ(job.deepspeed.version.name, "0.14");
    EXPECT_EQ(job.deepspeed.multi_rank_allreduce, std::nullopt) << "as the version does";
    EXPECT_EQ(job.megatron.version.name, "core-0.8");
    EXPECT_EQ(job.megatron.overlap_pipeline, Setting::on);
    EXPECT_EQ(job.fsdp.strategy, Sharding::full);
    EXPECT_EQ(job.ddp.bucket_mib, 25);
    EXPECT_EQ(job.experts.imbalance, 1);
    EXPECT_EQ(job.context_method, ContextMethod::ring);
    EXPECT_EQ(job.step, StepKind::steady);
}

TEST(settings, are_read_under_their_frameworks_key) {
    const Job job =
        test::small_study({"framework=fsdp", "layout.tensor=1", "layout.pipeline=1", "layout.data=16",
                           "fsdp.strategy=hybrid_shard", "fsdp.shard_ranks=4", "fsdp.version=1",
                           "fsdp.backward_prefetch=post", "fsdp.reduce_precision=fp32", "fsdp.limit_all_gathers=false"})
            .job;
    EXPECT_EQ(job.fsdp.strategy, Sharding::hybrid);
    EXPECT_EQ(job.layout.shard_ranks, 4U);
    EXPECT_EQ(job.fsdp.version, 1U);
    EXPECT_EQ(job.fsdp.backward_prefetch, BackwardPrefetch::after);
    EXPECT_EQ(job.fsdp.reduce_bytes, 4);
    EXPECT_EQ(job.fsdp.limit_all_gathers, Setting::off);
}

TEST(settings, fully_shard_reshards_as_a_flag_or_ranks_say) {
    const auto settings = [](const std::string& more) {
        return test::small_study(
                   {"framework=fsdp", "layout.tensor=1", "layout.pipeline=1", "layout.data=16", "fsdp.version=2", more})
            .job.fsdp;
    };
    EXPECT_EQ(settings("fsdp.reshard_after_forward=true").reshard, Reshard::always);
    EXPECT_EQ(settings("fsdp.reshard_after_forward=false").reshard, Reshard::never);
    EXPECT_EQ(settings("fsdp.reshard_after_forward=8").reshard_ranks, 8U);
    EXPECT_EQ(settings("fsdp.accumulate_locally=true").accumulate, Accumulate::step);
    EXPECT_EQ(settings("fsdp.accumulate_locally=false").accumulate, Accumulate::never);
    EXPECT_EQ(settings("fsdp.accumulate_locally=round").accumulate, Accumulate::round);
    EXPECT_EQ(settings("fsdp.forward_prefetch=true").accumulate, Accumulate::by_version);
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

TEST(settings, a_version_sets_what_it_did_and_keys_go_before_it) {
    const MegatronSettings then = test::small_study({"megatron.version=2021"}).job.megatron;
    EXPECT_EQ(then.overlap_input_reduction, Setting::off);
    EXPECT_EQ(then.fused_accumulation, Fusion::none);
    EXPECT_EQ(then.overlap_pipeline, Setting::off);
    const MegatronSettings given =
        test::small_study({"megatron.version=2022", "megatron.fused_accumulation=true"}).job.megatron;
    EXPECT_EQ(given.overlap_input_reduction, Setting::on);
    EXPECT_EQ(given.fused_accumulation, Fusion::all);
    EXPECT_EQ(given.overlap_pipeline, Setting::off);
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

// DeepSpeed, pull request 4887: first in 0.13.0.
TEST(settings, zero_1_overlaps_since_deepspeed_0_13) {
    const std::vector<std::string> flat{"framework=deepspeed", "layout.tensor=1", "layout.pipeline=1"};
    const auto overlap = [&](const char* zero, const char* version) {
        auto settings = flat;
        settings.insert(settings.end(), {zero, version});
        return test::small_study(settings).job.gradient_overlap;
    };
    EXPECT_EQ(overlap("zero=1", "deepspeed.version=0.12"), Setting::off);
    EXPECT_EQ(overlap("zero=1", "deepspeed.version=0.13"), Setting::on);
    EXPECT_EQ(overlap("zero=2", "deepspeed.version=0.12"), Setting::on);
    auto asked = flat;
    asked.insert(asked.end(), {"zero=1", "deepspeed.version=0.7", "overlap_gradients=true"});
    EXPECT_NE(errors_of(asked).find("DeepSpeed 0.7 ignores overlap_comm at stage 1"), std::string::npos);
}

TEST(settings, an_unknown_version_is_told_the_known_ones) {
    for (const char* given : {"deepspeed.version=0.99", R"(deepspeed.version="0.99")"}) {
        const std::string error = errors_of({"framework=deepspeed", given});
        EXPECT_NE(error.find("0.16, 0.15, 0.14"), std::string::npos) << error;
        EXPECT_NE(error.find("deepspeed.version"), std::string::npos) << error;
    }
    EXPECT_NE(errors_of({R"(megatron.version="core-0.80")"}).find("core-0.8,"), std::string::npos);
}

}  // namespace
}  // namespace weft
