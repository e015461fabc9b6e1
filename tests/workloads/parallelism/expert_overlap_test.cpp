// What may run beside the exchange of tokens, and what may not.
#include "workloads/parallelism/experts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/refusal.hpp"
#include "tests/workloads/studies.hpp"
#include "workloads/job/job_reading.hpp"

namespace weft {
namespace {

using ::testing::HasSubstr;

using Settings = std::vector<std::string>;

Study with_experts(const Settings& more) {
    Settings settings{"layout.tensor=1",
                      "layout.data=4",
                      "layout.expert=4",
                      "model.experts={\"count\": 8, \"top_k\": 2, \"shared\": 1}",
                      "megatron.version=core-0.15",
                      "schedule=interleaved",
                      "layout.virtual_stages=2"};
    settings.insert(settings.end(), more.begin(), more.end());
    return test::small_study(settings);
}

std::string refusal(const Settings& more) {
    return test::refusal_of([&] { with_experts(more); });
}

TEST(expert_overlap, is_none_unless_asked_for_or_what_the_schedule_is_for) {
    EXPECT_EQ(expert_overlap(with_experts({}).job), ExpertOverlap::none);
    EXPECT_EQ(expert_overlap(with_experts({"experts.overlap=passes"}).job), ExpertOverlap::passes);
    const Settings both_ways{"schedule=dualpipe", "layout.virtual_stages=1"};
    EXPECT_EQ(expert_overlap(with_experts(both_ways).job), ExpertOverlap::passes);
    Settings gathered = both_ways;
    gathered.emplace_back("experts.dispatcher=all_gather");
    EXPECT_EQ(expert_overlap(with_experts(gathered).job), ExpertOverlap::none) << "all ranks gather all tokens";
}

TEST(expert_overlap, refuses_what_does_not_go_with_it) {
    const std::string passes = "experts.overlap=passes", shared = "experts.overlap=shared_experts";
    EXPECT_EQ(refusal({passes}), "");
    EXPECT_EQ(refusal({shared}), "");
    EXPECT_THAT(refusal({passes, "experts.dispatcher=all_gather"}), HasSubstr("set experts.dispatcher"));
    EXPECT_THAT(refusal({passes, "recompute=full"}), HasSubstr("only without full recomputation"));
    EXPECT_EQ(refusal({passes, "model.experts.first_dense=1", "recompute={\"modules\": [\"mlp\"]}"}), "")
        << "of layers without experts";
    EXPECT_THAT(refusal({passes, "recompute={\"modules\": [\"moe\"]}"}), HasSubstr("cut at the exchange of tokens"));
    EXPECT_THAT(refusal({shared, "recompute={\"modules\": [\"shared_experts\"]}"}),
                HasSubstr("cut at the exchange of tokens"));
    EXPECT_THAT(refusal({passes, "cuda_graphs=layer"}), HasSubstr("graphs of whole layers"));
    const Settings recorded{passes, "cuda_graphs=full", "experts.dispatcher=hybridep"};
    EXPECT_THAT(refusal(recorded), HasSubstr("megatron.version to core-0.18"));
    EXPECT_EQ(refusal({recorded[0], recorded[1], recorded[2], "megatron.version=core-0.18"}), "");
    Settings stash{recorded[1],
                   recorded[2],
                   "megatron.version=core-0.18",
                   "experts.paged_stash=true",
                   "machine=dgx-b200",
                   "precision=fp8",
                   "fp8_recipe=mxfp8"};
    EXPECT_EQ(refusal(stash), "");
    EXPECT_THAT(remarks_on(with_experts(stash).job), ::testing::Contains(HasSubstr("copies of experts.paged_stash")));
    stash.back() = "fp8_recipe=tensorwise";
    EXPECT_THAT(refusal(stash), HasSubstr("in MXFP8 (fp8_recipe mxfp8), fed by HybridEP"));
    EXPECT_THAT(refusal({passes, "megatron.version=core-0.13"}), HasSubstr("set megatron.version to core-0.14"));
    EXPECT_THAT(refusal({passes, "layout.expert=1"}), HasSubstr("layout.expert is 1"));
    EXPECT_THAT(refusal({passes, "offloaded_layers=1"}), HasSubstr("keep their activations on the device"));
}

}  // namespace
}  // namespace weft
