// What of a job its framework's version has not.
#include <gmock/gmock.h>

#include "tests/workloads/studies.hpp"

namespace weft {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> lacking(const std::vector<std::string>& overrides) {
    std::vector<std::string> messages;
    for (const JobError& error : lacking_features(test::small_study(overrides).job)) {
        messages.push_back(error.key + ": " + error.message);
    }
    return messages;
}

TEST(lacking_features, are_none_of_a_plain_job) {
    EXPECT_THAT(lacking({"framework=megatron"}), IsEmpty());
    EXPECT_THAT(lacking({"framework=megatron", "zero=1", "schedule=interleaved", "layout.virtual_stages=2"}),
                IsEmpty());
    EXPECT_THAT(lacking({"framework=deepspeed"}), IsEmpty());
}

TEST(lacking_features, are_schedules_that_no_release_has) {
    EXPECT_THAT(lacking({"framework=megatron", "schedule=zb-h1"}),
                ElementsAre("schedule: zb-h1 is in no release of Megatron-LM"));
    EXPECT_THAT(lacking({"framework=deepspeed", "schedule=gpipe"}),
                ElementsAre("schedule: gpipe is not in DeepSpeed, which runs 1f1b"));
    EXPECT_THAT(lacking({"framework=megatron", "schedule=gpipe", "layout.pipeline=1", "layout.data=8"}), IsEmpty())
        << "one stage has no schedule";
}

TEST(lacking_features, go_by_version) {
    EXPECT_THAT(lacking({"framework=megatron", "layout.split=ends", "model.layers=10"}), IsEmpty())
        << "the latest release has it";
    EXPECT_THAT(lacking({"framework=megatron", "layout.split=ends", "model.layers=10", "megatron.version=core-0.8"}),
                ElementsAre("layout.split: fewer layers on the first and last stage came with Megatron-core 0.9, after "
                            "Megatron-core 0.8 (megatron.version)"));
    const std::vector<std::string> old{"framework=megatron", "megatron.version=2021", "zero=1",
                                       "sequence_parallel=true"};
    EXPECT_THAT(
        lacking(old),
        ElementsAre("sequence_parallel: sequence parallelism came with Megatron-LM of 2022, after Megatron-LM of 2021 "
                    "(megatron.version)",
                    "zero: the distributed optimizer came with Megatron-LM of 2022, after Megatron-LM of 2021 "
                    "(megatron.version)"));
    EXPECT_THAT(lacking({"framework=megatron", "megatron.version=2022", "zero=1", "sequence_parallel=true"}),
                IsEmpty());
}

TEST(lacking_features, are_orders_of_axes) {
    EXPECT_THAT(lacking({"framework=megatron", "layout.order=tensor,pipeline,data"}), IsEmpty());
    EXPECT_THAT(lacking({"framework=megatron", "layout.order=data,tensor,pipeline"}),
                ElementsAre("layout.order: this order of axes is in no release of Megatron-LM"));
    EXPECT_THAT(lacking({"framework=deepspeed", "layout.order=tensor,pipeline,data"}),
                ElementsAre("layout.order: this order of axes is not in DeepSpeed, which has tensor, data, pipeline"));
}

}  // namespace
}  // namespace weft
