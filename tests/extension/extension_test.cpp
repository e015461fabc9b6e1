// Files of another folder are as good as shipped ones: what the tests of their kinds do not say.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "sim/collective/algorithm.hpp"
#include "tests/workloads/candidates.hpp"
#include "tests/workloads/soundness.hpp"
#include "tests/workloads/studies.hpp"
#include "tools/output/job_json.hpp"
#include "tools/output/report_text.hpp"
#include "tools/output/result_table.hpp"
#include "tools/page/result_data.hpp"
#include "tools/schema/reference.hpp"
#include "tools/serve/site.hpp"
#include "tools/sweep/sweep.hpp"
#include "workloads/exports/export.hpp"
#include "workloads/keys/key.hpp"
#include "workloads/search/plan_result.hpp"
#include "workloads/volume/volume.hpp"

namespace weft {
namespace {

TEST(extension, adds_one_of_each_kind) {
    EXPECT_NE(find_algorithm(Collective::all_gather, "direct"), nullptr);
    EXPECT_NE(find_schedule("eager-1f1b"), nullptr);
    EXPECT_EQ(usual_order(), (std::vector<std::string>{"tensor", "context", "ulysses", "data", "pipeline"}));
    EXPECT_EQ(Machine::load("hypercube").info().neighbourhoods, (std::vector<std::uint32_t>{2, 4, 8, 16, 32}));
}

// A job of all five: its machine with its block, whose library may choose the collective.
TEST(extension, runs_jobs_with_all_of_them) {
    const Study study = test::small_study({"machine=hypercube", "schedule=eager-1f1b", "layout.ulysses=2", "zero=1"});
    EXPECT_EQ(test::unsoundness(study), "");
    EXPECT_EQ(axes(study.job.layout), "tensor 2 x ulysses 2 x pipeline 4 x data 2");
}

// It asks for nothing that DeepSpeed's pipeline engine lacks.
TEST(extension, schedules_run_under_every_framework_that_offers_what_they_need) {
    EXPECT_EQ(test::unsoundness(test::small_study({"framework=deepspeed", "schedule=eager-1f1b"})), "");
    EXPECT_NE(test::mistakes("layout.ulysses=3").find("cannot be dealt to 6 ranks"), std::string::npos);
}

// The shipped context scheme by all-to-all, said once more.
TEST(extension, a_scheme_costs_what_the_same_one_costs_inside) {
    const auto traffic = [](const std::vector<std::string>& settings, const std::string& dimension) {
        const Plan plan = make_plan(test::small_study(settings));
        std::map<std::string, double> volumes{{"memory", plan.stages.front().memory.total().value}};
        for (const VolumeRow& row : framework_volume(plan, RankId{0}).rows) {
            volumes[row.dimension == dimension ? "axis" : row.dimension] += row.volume.value;
        }
        return volumes;
    };
    EXPECT_EQ(traffic({"layout.ulysses=2", "zero=1"}, "ulysses"),
              traffic({"layout.context=2", "context_method=all_to_all", "zero=1"}, "context"));
    const auto step = [](const std::vector<std::string>& settings) {
        const Study study = test::small_study(settings);
        return make_report(simulate_step(study, make_plan(study), {})).metric("step.time_s");
    };
    EXPECT_EQ(step({"layout.ulysses=2"}), step({"layout.context=2", "context_method=all_to_all"}));
}

TEST(extension, a_search_tries_them) {
    const SearchSpace space({test::small_study({"nodes=2", "layout.data=null"})}, {});
    const auto candidates = space.candidates();
    const auto tries = [&](std::string_view key, std::uint32_t value) {
        return std::ranges::any_of(candidates,
                                   [&](const Candidate& one) { return test::chosen(space, one, key) == value; });
    };
    EXPECT_TRUE(tries("layout.ulysses", 2));
    const std::vector<std::string> keys = schedule_keys();
    EXPECT_TRUE(tries("schedule", static_cast<std::uint32_t>(std::ranges::find(keys, "eager-1f1b") - keys.begin())));
}

// A row of keys/ulysses.json, which its scheme asks for.
TEST(extension, a_key_is_read_written_and_explained) {
    const std::string key = "ulysses_heads";
    const Study study = test::small_study({key + "=4", "layout.ulysses=2"});
    EXPECT_EQ(value_of(study.job, key), 4);
    EXPECT_NE(study.job, test::small_study({"layout.ulysses=2"}).job);
    EXPECT_EQ(test::mistake_at({key + "=8", "layout.ulysses=2"}, key), "a rank has 4 heads, not 8");
    EXPECT_EQ(test::mistake_at({key + "=0"}, key), "expected an integer of at least 1, got 0");
    EXPECT_NE(test::mistakes("least_heads=4").find("did you mean \"ulysses_heads\"?"), std::string::npos);
    EXPECT_EQ(job_json(study.job, study.machine.info(), {})[key], 4);
    EXPECT_NE(own_keys(study, "megatron").find("# weft: ulysses_heads=4\n"), std::string::npos);
    const auto schema = nlohmann::json::parse(json_schema(make_reference("job")))["properties"][key];
    EXPECT_EQ(schema["default"], 1);
    EXPECT_EQ(schema["description"], "heads that each rank keeps at least under `ulysses`");
    const FormGroup batch = form_choices().groups.at(2);
    EXPECT_EQ(batch.fields.back().key, key);
    EXPECT_EQ(batch.fields.back().otherwise, "1");
}

// No other axis can double: 4 layers, a width of 4098, and tokens that no ring of four pieces deals.
TEST(extension, more_nodes_are_tried_on_its_axis) {
    const Study study = test::small_study({"machine=hypercube", "model.layers=4", "model.ffn_hidden=4098",
                                           "model.vocabulary=512", "batch.sequence=1048578", "recompute=none"});
    ASSERT_FALSE(make_plan(study).fits());
    const std::optional<MemoryAdvice> advice = more_nodes(study);
    ASSERT_TRUE(advice.has_value());
    EXPECT_EQ(advice->changes.front(), "nodes=8 layout.ulysses=2");
}

TEST(extension, a_metric_shows_in_text_json_and_rows_of_sweeps) {
    const std::string key = "throughput.tokens_per_s_per_node";
    const Study study = test::small_study({"nodes=2", "layout.data=null"});
    const Plan plan = make_plan(study);
    const Report report = make_report(simulate_step(study, plan, {}));
    const double value = report.metric("throughput.tokens_per_s") / 2;
    EXPECT_EQ(report.metric(key), value);
    EXPECT_NE(report_text(report).find(fmt::format("{}{:.6g} tokens/s\n", key, value)), std::string::npos);
    const auto json = nlohmann::json::parse(report_json(report, plan, {}, {}, {}));
    EXPECT_EQ(json.at("throughput").at("tokens_per_s_per_node"), value);

    const ResultTable sweep{.columns = sweep_columns(SweepGrid({})),
                            .rows = {row_of(SweepGrid({}), 0, metric_cells(report))}};
    const std::string csv = result_csv(sweep), lines = result_json_lines(sweep);
    EXPECT_NE(csv.find(",throughput_tokens_per_s_per_node,"), std::string::npos);
    EXPECT_NE(csv.find(',' + cell_json(value) + ','), std::string::npos);
    EXPECT_NE(lines.find("\"throughput_tokens_per_s_per_node\":" + cell_json(value)), std::string::npos);
    EXPECT_EQ(result_json(sweep).at("columns").at(metrics::step.rows.size()).at("meaning"), "of one node");
}

}  // namespace
}  // namespace weft
