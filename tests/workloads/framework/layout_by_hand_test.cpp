// Layers dealt by hand: which jobs take them, and what they then cost.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/refusal.hpp"
#include "tests/workloads/studies.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/report/report.hpp"
#include "workloads/report/simulation.hpp"
#include "workloads/schedule/schedule.hpp"

namespace weft {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Settings = std::vector<std::string>;

Study hand_study(const std::string& split, Settings more = {}) {
    more.push_back("megatron.version=core-0.13");
    if (!split.empty()) more.push_back("layout.split=" + split);
    return test::small_study(more);
}

std::vector<std::uint32_t> stage_layers(const Study& study) {
    std::vector<std::uint32_t> layers;
    for (const Stage& stage : make_plan(study).stages) layers.push_back(stage.layers());
    return layers;
}

double step_of(const Study& study) {
    return make_report(simulate_step(study, make_plan(study), {})).metrics.front().value;
}

std::string refusal(const std::string& split, const Settings& more = {}) {
    return test::refusal_of([&] { hand_study(split, more); });
}

TEST(layout_by_hand, is_a_list_counts_or_a_text) {
    EXPECT_THAT(stage_layers(hand_study("[1, 3, 3, 1]")), ElementsAre(1, 3, 3, 1));
    EXPECT_THAT(stage_layers(hand_study(R"({"first": 1, "last": 3})")), ElementsAre(1, 2, 2, 3));
    EXPECT_THAT(stage_layers(hand_study(R"({"last": 2})")), ElementsAre(2, 2, 2, 2));
    EXPECT_THAT(stage_layers(hand_study("Et|t*3|(t|)*1t*3L")), ElementsAre(1, 3, 1, 3));
    EXPECT_THAT(stage_layers(hand_study("E|t*4|t*4|L")), ElementsAre(0, 4, 4, 0));
}

TEST(layout_by_hand, is_proposed_where_stages_do_not_divide_the_layers) {
    EXPECT_THAT(refusal("", {"model.layers=9"}),
                HasSubstr("4 pipeline stages do not divide 9 layers; --set layout.split=[2,2,3,2] deals them"));
    EXPECT_THAT(stage_layers(hand_study("[2,2,3,2]", {"model.layers=9"})), ElementsAre(2, 2, 3, 2));
    EXPECT_THAT(test::mistakes("model.layers=9"),
                HasSubstr("--set layout.split=[2,2,3,2] --set megatron.version=core-0.13 deals them"));
    EXPECT_THAT(refusal("even", {"model.layers=9"}), ::testing::EndsWith("do not divide 9 layers"));
}

// Of every schedule; of those with several parts, whole stages hold what their parts hold.
TEST(layout_by_hand, as_the_even_split_takes_the_same_time_and_memory) {
    for (const Schedule* const schedule : schedule::all()) {
        Settings settings{"schedule=" + std::string(schedule->key)};
        if (schedule->chunks == 0) settings.emplace_back("layout.virtual_stages=2");
        const Study even = hand_study("even", settings);
        const std::uint32_t parts = even.job.model_parts();
        std::string list;
        for (std::uint32_t part = 0; part < parts; ++part) list += fmt::format("{}{}", part == 0 ? "" : ",", 8 / parts);
        const Study listed = hand_study("[" + list + "]", settings);
        EXPECT_EQ(step_of(listed), step_of(even)) << schedule->key;
        EXPECT_EQ(make_plan(listed).stages[0].memory.total().value, make_plan(even).stages[0].memory.total().value);
    }
}

TEST(layout_by_hand, every_schedule_runs_parts_of_no_layer) {
    for (const Schedule* const schedule : schedule::all()) {
        Settings settings{"schedule=" + std::string(schedule->key)};
        if (schedule->chunks == 0) settings.emplace_back("layout.virtual_stages=2");
        const std::uint32_t parts = hand_study("even", settings).job.model_parts();
        const std::string list = parts == 4 ? "[0,5,3,0]" : "[0,1,2,1,1,0,3,0]";
        const Study study = hand_study(list, settings);
        const Plan plan = make_plan(study);
        const double held = std::accumulate(plan.stages.begin(), plan.stages.end(), 0.0,
                                            [](double sum, const Stage& stage) { return sum + stage.parameters(); });
        EXPECT_EQ(held, double(parameters(study.job.model, study.job.split())) * schedule->copies) << schedule->key;
        EXPECT_GT(step_of(study), 0.0);
    }
}

// The stage with the most layers sets the pace.
TEST(layout_by_hand, uneven_stages_are_slower_than_even_ones) {
    const double even = step_of(hand_study("even"));
    EXPECT_GT(step_of(hand_study("[1, 2, 2, 3]")), even);
    EXPECT_GT(step_of(hand_study("[1, 1, 1, 5]")), step_of(hand_study("[1, 2, 2, 3]")));
}

TEST(layout_by_hand, what_cannot_be_is_refused_with_the_numbers) {
    EXPECT_THAT(refusal("[4, 4]"), HasSubstr("has 2 model parts, 4 pipeline stages have 4"));
    EXPECT_THAT(refusal("[2, 2, 2, 3]"), HasSubstr("holds 9 layers (2 + 2 + 2 + 3)"));
    EXPECT_THAT(refusal("E|t*8|L"), HasSubstr("has 3 model parts"));
    EXPECT_THAT(refusal("E|t*8|m|L"), HasSubstr("places 1 prediction modules"));
    EXPECT_THAT(refusal(R"({"first": 3})"), HasSubstr("first 3 and last 0 of 8 layers leave 5 to 3 middle stages"));
    EXPECT_THAT(refusal("[]"), HasSubstr("expected the layers of each model part"));
    EXPECT_THAT(refusal("evenly"), HasSubstr("expected one of framework, even"));
    EXPECT_THAT(refusal("[2, 2, 2, 2]", {"framework=deepspeed"}), HasSubstr("DeepSpeed takes no layout by hand"));
    EXPECT_THAT(refusal(R"({"first": 2})", {"schedule=zb-v"}), HasSubstr("give a list of 8 parts"));
    EXPECT_THAT(refusal("uniform"), HasSubstr("partition_method of DeepSpeed"));
}

TEST(layout_by_hand, what_a_version_lacks_is_modelled) {
    const auto lacking = [](const Settings& settings) {
        return lacking_features(test::small_study(settings).job).at(0).message;
    };
    EXPECT_THAT(lacking({"layout.split=[2, 2, 2, 2]", "megatron.version=core-0.12"}),
                HasSubstr("came with Megatron-core 0.13"));
    EXPECT_THAT(lacking({"layout.split={\"first\": 2}", "megatron.version=core-0.8"}),
                HasSubstr("came with Megatron-core 0.9"));
}

// DeepSpeed's own functions (runtime/utils.py of 0.14) on eight layers of a small table and a large one.
TEST(layout_by_hand, deepspeed_counts_items_and_parameters) {
    const Settings deepspeed{"framework=deepspeed", "layout.tensor=1", "layout.data=4"};
    const auto dealt = [&](const std::string& split, const std::string& more) {
        Settings settings = deepspeed;
        settings.push_back("layout.split=" + split);
        settings.push_back(more);
        return stage_layers(test::small_study(settings));
    };
    EXPECT_THAT(dealt("uniform", "zero=1"), ElementsAre(2, 3, 3, 0));  // 13 items: 4, 3, 3, 3
    EXPECT_THAT(dealt("parameters", "model.vocabulary=1000"), ElementsAre(2, 2, 2, 2));
    EXPECT_THAT(dealt("parameters", "model.vocabulary=50257"), ElementsAre(0, 4, 4, 0));
}

}  // namespace
}  // namespace weft
