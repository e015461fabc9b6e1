// Everything that torchtitan composes under fully_shard at once: experts, tensor ranks that share sequences, context
// ranks and hybrid shards. Folded it is the same up to rounding.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/workloads/same_report.hpp"
#include "tests/workloads/studies.hpp"
#include "workloads/report/report.hpp"

namespace weft {
namespace {

using Settings = std::vector<std::string>;

// 2 x 2 x 8 ranks on four nodes, shards of four data ranks with their context ranks.
Study study_of(const Settings& more) {
    Settings all{"machine=dgx-h100",
                 "framework=fsdp",
                 "fsdp.version=2",
                 "precision=bf16",
                 "layout.tensor=2",
                 "layout.context=2",
                 "layout.data=8",
                 "layout.pipeline=1",
                 "sequence_parallel=true",
                 "layout.expert=4",
                 "layout.expert_tensor=1",
                 "fsdp.strategy=hybrid_shard",
                 "fsdp.shard_ranks=4",
                 "batch.global=16",
                 "model.layers=4",
                 "model.vocabulary=8192",
                 R"(model.experts={"count": 8, "top_k": 2, "ffn_hidden": 1024, "first_dense": 1})"};
    all.insert(all.end(), more.begin(), more.end());
    return test::small_study(all);
}

Report report(const Study& study, Folding folding) {
    return make_report(simulate_step(study, make_plan(study), {.folding = folding}));
}

TEST(composed_folding, of_experts_tensor_context_and_hybrid_shards_is_exact) {
    for (const Settings& more :
         {Settings{}, Settings{"layout.expert_tensor=2"}, Settings{"layout.expert=8", "model.experts.shared=1"},
          Settings{"fsdp.strategy=hybrid_shard_zero2", "context_method=all_gather"},
          Settings{"fsdp.shard_ranks=2", "recompute=full"},
          Settings{"layout.pipeline=2", "layout.data=4", "schedule=1f1b", "fsdp.shard_ranks=2"}}) {
        const Study study = study_of(more);
        const Report folded = report(study, Folding::exact), unfolded = report(study, Folding::none);
        ASSERT_EQ(unfolded.classes, study.job.layout.ranks());
        EXPECT_LT(folded.classes, unfolded.classes) << (more.empty() ? "" : more.front());
        EXPECT_EQ(test::differences(folded, unfolded), "") << (more.empty() ? "" : more.front());
    }
}

}  // namespace
}  // namespace weft
