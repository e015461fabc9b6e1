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
    EXPECT_THAT(lacking({"framework=megatron", "layout.tensor=4", "model.kv_heads=2", "megatron.version=core-0.15"}),
                ElementsAre("layout.tensor: more tensor ranks than key-value heads came with Megatron-core 0.16, after "
                            "Megatron-core 0.15 (megatron.version)"));
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

TEST(lacking_features, are_layers_that_came_later) {
    const std::string sizes = R"("recurrence": {"heads": 8, "key_size": 16}, "layer_kinds": )";
    const auto lacks = [](const std::string& model, const std::string& version) {
        return lacking({"framework=megatron", "megatron.version=" + version,
                        R"(model={"layers": 8, "hidden": 512, "heads": 8, "vocabulary": 1000, )" + model + "}"});
    };
    const std::string pattern = sizes + R"({"M": {"mixer": "mamba2", "feed_forward": "none"}, "-": {"mixer": "none"},
        "G": {"mixer": "gated_delta", "feed_forward": "none"}}, "layer_pattern": )";
    EXPECT_THAT(lacks(pattern + R"("M-")", "core-0.8"), IsEmpty());
    EXPECT_THAT(lacks(pattern + R"("M-")", "2023"),
                ElementsAre("model.layer_kinds: layers of a mixer or a feed-forward alone came with Megatron-core 0.8, "
                            "after Megatron-LM of 2023 (megatron.version)"));
    EXPECT_THAT(lacks(pattern + R"("G-")", "core-0.17"), IsEmpty());
    EXPECT_THAT(lacks(pattern + R"("G-")", "core-0.16"),
                ElementsAre("model.layer_kinds: a gated delta net in a hybrid pattern came with Megatron-core 0.17, "
                            "after Megatron-core 0.16 (megatron.version)"));
    const std::string linear = sizes + R"({"l": {"mixer": "gated_delta"}, "f": {}}, "layer_pattern": "lf")";
    EXPECT_THAT(lacks(linear, "core-0.16"), IsEmpty());
    EXPECT_THAT(lacks(linear, "core-0.15"),
                ElementsAre("model.mixer: a gated delta net came with Megatron-core 0.16, after Megatron-core 0.15 "
                            "(megatron.version)"));
    EXPECT_THAT(lacks(sizes + R"({"l": {"mixer": "lightning"}}, "layer_pattern": "l")", "core-0.19"),
                ElementsAre("model.mixer: Kimi Delta or lightning attention is in no release of Megatron-LM"));
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
