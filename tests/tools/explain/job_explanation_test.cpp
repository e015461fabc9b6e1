#include "tools/explain/job_explanation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <utility>

#include "tools/output/explanation_text.hpp"

namespace weft {
namespace {

JobExplanation explained(const std::string& job, unsigned threads,
                         ExplainOptions::Simulated simulated = ExplainOptions::Simulated::promising) {
    const std::string path = WEFT_SOURCE_DIR "/workloads/jobs/" + job;
    return explain_job(load_study(path), {.source = path, .overrides = {}},
                       {.simulation = {}, .simulated = simulated, .threads = threads});
}

constexpr const char* small_job = "frontier-gpt-neox-1.3b-sequence.json";
constexpr const char* large_job = "frontier-gpt-1t-3d.json";

TEST(job_explanation, is_the_same_for_any_number_of_threads) {
    EXPECT_EQ(explanation_json(explained(small_job, 1), {}), explanation_json(explained(small_job, 4), {}));
}

TEST(job_explanation, simulates_all_that_is_asked_for) {
    const JobExplanation all = explained(small_job, 2, ExplainOptions::Simulated::all);
    for (const ExplainedKnob& knob : all.knobs) EXPECT_EQ(knob.means, Means::simulated) << knob.knob;
    for (const ExplainedSetting& setting : all.settings) {
        if (!setting.fits) continue;
        EXPECT_EQ(setting.means, Means::simulated) << assignments_text(setting);
    }
}

// What is not simulated is close to what a simulation finds, as far as it is told. The closed form errs twice, of the
// job itself and of the setting.
TEST(job_explanation, is_told_close_to_what_simulations_find) {
    const JobExplanation some = explained(small_job, 2), all = explained(small_job, 2, ExplainOptions::Simulated::all);
    std::map<std::string, Seconds> found;
    for (const ExplainedKnob& knob : all.knobs) found[knob.knob + knob.change] = knob.step;
    for (const ExplainedSetting& setting : all.settings) found[assignments_text(setting)] = setting.step;
    ASSERT_EQ(some.knobs.size() + some.settings.size(), all.knobs.size() + all.settings.size());
    for (const ExplainedKnob& knob : some.knobs) {
        if (!knob.is_told()) continue;
        EXPECT_NEAR(knob.step / found.at(knob.knob + knob.change), 1.0, 0.02) << knob.knob;
    }
    for (const ExplainedSetting& setting : some.settings) {
        if (setting.is_told()) {
            EXPECT_NEAR(setting.step / found.at(assignments_text(setting)), 1.0, 0.15) << assignments_text(setting);
        }
    }
}

// A knob is turned with the layers where they are, which costs have dealt to stages.
TEST(job_explanation, deals_no_layers_again) {
    const auto knobs = [](const std::string& split) {
        const std::string path = WEFT_SOURCE_DIR "/workloads/jobs/dgx-h100-llama3-8b-context.json";
        const std::vector<std::string> overrides{"model=nemotron-3-nano-30b-a3b",
                                                 "megatron.version=core-0.19",
                                                 "nodes=2",
                                                 "layout.tensor=1",
                                                 "layout.context=1",
                                                 "layout.pipeline=4",
                                                 "layout.data=4",
                                                 "layout.expert=4",
                                                 "batch.global=32",
                                                 "batch.sequence=4096",
                                                 "recompute=none",
                                                 "attention=cudnn",
                                                 "layout.split=" + split};
        const JobExplanation found = explain_job(load_study(path, overrides), {.source = path, .overrides = overrides},
                                                 {.simulation = {}, .threads = 1});
        std::map<std::string, double> steps;
        for (const ExplainedKnob& knob : found.knobs) steps[knob.knob + knob.change] = knob.step.value;
        std::string list;
        for (const Stage& stage : found.step.run.plan.stages)
            list += (list.empty() ? "[" : ",") + std::to_string(stage.layers());
        return std::pair(steps, list + "]");
    };
    const auto dealt = knobs("cost"), listed = knobs(dealt.second);
    EXPECT_GT(dealt.first.size(), 10U);
    EXPECT_EQ(dealt.first, listed.first);
}

TEST(job_explanation, of_a_large_job_simulates_little_and_says_so) {
    const JobExplanation some = explained(large_job, 2);
    const auto counts = changes_by_means(some);
    const std::size_t all = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    EXPECT_EQ(all, some.knobs.size() +
                       static_cast<std::size_t>(std::ranges::count_if(some.settings, &ExplainedSetting::fits)));
    EXPECT_GT(counts.front(), 2U);
    EXPECT_LT(counts.front(), 12U);
    const auto json = nlohmann::json::parse(explanation_json(some, {}));
    std::size_t simulated = 0;
    for (const char* const rows : {"knobs", "settings"}) {
        for (const auto& row : json[rows]) {
            simulated += row["simulated"].get<bool>() ? 1U : 0U;
            EXPECT_EQ(row["simulated"].get<bool>(), row["means"] == "simulated");
            EXPECT_EQ(row["means"].is_null(), row["step_s"].is_null());
        }
    }
    EXPECT_EQ(simulated, counts.front());
    EXPECT_NE(explanation_text(some).find("of " + std::to_string(all) +
                                          " changes simulated: " + std::to_string(counts.front())),
              std::string::npos);
}

}  // namespace
}  // namespace weft
