// Imbalance of experts by layer: closed forms against jobs whose layers are alike, and folded against unfolded.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/workloads/same_report.hpp"
#include "tests/workloads/studies.hpp"
#include "workloads/report/report.hpp"

namespace weft {
namespace {

using Settings = std::vector<std::string>;

// Four layers, of which the last three have experts on four ranks.
Study study_of(const std::string& imbalance, const Settings& more = {}) {
    Settings all{"machine=dgx-h100",
                 "precision=bf16",
                 "megatron.version=core-0.15",
                 "layout.tensor=1",
                 "layout.pipeline=1",
                 "layout.data=4",
                 "layout.expert=4",
                 "model.layers=4",
                 "batch.global=8",
                 "batch.micro=2",
                 R"(model.experts={"count": 8, "top_k": 2, "ffn_hidden": 1024, "first_dense": 1, "shared": 1})",
                 "experts.imbalance=" + imbalance};
    all.insert(all.end(), more.begin(), more.end());
    return test::small_study(all);
}

Report report(const Study& study, Folding folding = Folding::exact) {
    return make_report(simulate_step(study, make_plan(study), {.folding = folding}));
}

double step(const std::string& imbalance, const Settings& more = {}) {
    return report(study_of(imbalance, more)).metric("step.time_s");
}

TEST(imbalance, of_more_than_all_tokens_on_one_expert_is_refused) {
    EXPECT_NO_THROW(step("8"));
    for (const char* more : {"8.1", "1e19", "[1, 9, 1]"}) {
        EXPECT_NE(test::refusal_of([&] { step(more); }).find("at most 8 times the mean"), std::string::npos) << more;
    }
}

TEST(imbalance, of_each_layer_is_that_of_all_where_layers_are_alike) {
    for (const char* more : {"experts.dispatcher=all_to_all", "experts.overlap=shared_experts",
                             "experts.dispatcher=deepep", "recompute=full"}) {
        EXPECT_EQ(test::differences(report(study_of("[1.5, 1.5, 1.5]", {more})), report(study_of("1.5", {more}))), "")
            << more;
    }
}

// Layers run one after another and all ranks wait for the busiest in each: what layers take is the mean of what they
// take where all are alike, whichever of them is which.
TEST(imbalance, adds_up_over_layers) {
    const double even = step("1"), some = step("1.4"), most = step("2.5"), expected = (even + some + most) / 3;
    ASSERT_GT(some, even * 1.001);
    ASSERT_GT(most, some * 1.001);
    for (const char* list : {"[1, 1.4, 2.5]", "[2.5, 1, 1.4]", "[1.4, 2.5, 1]"}) {
        EXPECT_NEAR(step(list), expected, 1e-9 * expected) << list;
    }
}

// Stages differ: the one with the busy layers is waited for.
TEST(imbalance, of_a_stage_is_that_of_its_layers) {
    const Settings two{"layout.pipeline=2", "model.layers=5", "layout.split=[4, 1]", "megatron.version=core-0.15"};
    const double last = step("[1, 1, 1, 2]", two), first = step("[2, 2, 2, 1]", two), all = step("2", two);
    EXPECT_GT(first, last);  // three layers with experts there, one here
    EXPECT_GT(all, first);
}

// Experts 0 and 1 on the first rank, and so on: 30 of 80 tokens on the busiest of four, 50 on the busiest of two.
TEST(imbalance, follows_from_tokens_for_any_number_of_ranks) {
    const std::string tokens =
        "[[20, 10, 10, 10, 5, 5, 10, 10], [10, 10, 10, 10, 10, 10, 10, 10], "
        "[0, 0, 0, 0, 0, 0, 0, 8]]";
    const std::vector<double> four{1, 30.0 / 20, 1, 4}, two{1, 50.0 / 40, 1, 2}, whole{1, 1, 1, 1};
    EXPECT_EQ(study_of(tokens).job.experts.by_layer, four);
    EXPECT_EQ(study_of(tokens, {"layout.expert=2"}).job.experts.by_layer, two);
    EXPECT_EQ(study_of(tokens, {"layout.expert=1"}).job.experts.by_layer, whole);
    EXPECT_DOUBLE_EQ(study_of(tokens).job.experts.imbalance, (1.5 + 1 + 4) / 3);
    EXPECT_EQ(step(tokens), step("[1.5, 1, 4]"));
}

// Prediction modules are layers with experts, too; left out they have the mean.
TEST(imbalance, of_prediction_modules_may_be_left_out) {
    const Settings predicts{"model.mtp_layers=1"};
    const std::vector<double> left_out{1, 2, 1, 3, 2};
    EXPECT_EQ(study_of("[2, 1, 3]", predicts).job.experts.by_layer, left_out);
    EXPECT_EQ(study_of("[2, 1, 3, 4]", predicts).job.experts.by_layer.back(), 4);
}

TEST(imbalance, by_layer_keeps_memory_of_the_busiest) {
    const auto kept = [](const std::string& imbalance) {
        return make_plan(study_of(imbalance)).stages.front().memory.activations.value;
    };
    const double expected = (kept("1") + kept("1.5") + kept("3")) / 3;
    EXPECT_NEAR(kept("[1, 1.5, 3]"), expected, 0.2 * (kept("3") - kept("1")));  // the fullest moment is not linear
    EXPECT_LT(kept("[1, 1.5, 3]"), kept("3"));
}

TEST(imbalance, by_layer_folds) {
    for (const Settings& more : {Settings{}, Settings{"layout.data=16", "batch.global=32"},
                                 Settings{"layout.pipeline=2", "layout.data=8", "batch.global=32"}}) {
        const Study study = study_of("[1.1, 1.7, 1.3]", more);
        const Report folded = report(study), unfolded = report(study, Folding::none);
        ASSERT_EQ(unfolded.classes, study.job.layout.ranks());
        EXPECT_LT(folded.classes, unfolded.classes);
        EXPECT_EQ(test::differences(folded, unfolded), "");
    }
}

TEST(imbalance, that_fits_no_model_is_refused) {
    const auto why = [](const std::string& imbalance, const Settings& more = {}) {
        try {
            study_of(imbalance, more);
        } catch (const ConfigError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_NE(why("[1.5, 2]").find("each of the 3 layers with experts"), std::string::npos);
    EXPECT_NE(why("[1.5, 0.5, 2]").find("at least 1"), std::string::npos);
    EXPECT_NE(why("[]").find("experts.imbalance"), std::string::npos);
    EXPECT_NE(why("[[1, 2], [1, 2], [1, 2]]").find("8 experts"), std::string::npos);
    EXPECT_NE(why("[[0, 0], [1, 2], [1, 2]]").find("not all of them 0"), std::string::npos);
    EXPECT_NE(why("[1.5, 1.5, 1.5]", {"experts.capacity_factor=1"}).find("capacity_factor"), std::string::npos);
}

}  // namespace
}  // namespace weft
