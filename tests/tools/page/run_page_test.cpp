#include "tools/page/pages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>
#include <string_view>

#include "tests/tools/program.hpp"

namespace weft {
namespace {

using SortedJson = nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* arguments =
    "run workloads/jobs/frontier-gpt-neox-20b-3d.json --set batch.global=128 --steps 2000000 --samples 200 --seed 3 ";

SortedJson data_on(const std::string& page) {
    const std::string begin = "id=\"data\">";
    const std::size_t from = page.find(begin) + begin.size();
    return SortedJson::parse(page.substr(from, page.find("</script>", from) - from));
}

TEST(run_page, has_the_distribution_of_what_differs_between_runs) {
    const test::TemporaryFolder folder;
    const std::string path = (folder.path() / "run.html").string();
    const test::Ran ran = test::run_weft(arguments + ("--price 1.5 --report " + path));
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    const std::string page = test::read_file(path);
    const SortedJson distributions = data_on(page)["distributions"];
    const auto of = [&](std::string_view name) {
        return *std::ranges::find_if(distributions, [&](const SortedJson& each) { return each["name"] == name; });
    };
    EXPECT_THAT(of("run time")["alike"], HasSubstr("all runs within 0."));
    EXPECT_EQ(of("steps")["alike"], "2,000,000 in all runs");
    EXPECT_EQ(of("lost work")["unit"], "d");
    std::size_t charts = 0;
    for (const SortedJson& each : distributions) {
        if (each.contains("alike")) continue;
        const auto shares = each["share"].get<std::vector<double>>();
        EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1.0, 1e-9) << each["name"];
        EXPECT_EQ(each["at"].size(), shares.size() + 1);
        ++charts;
    }
    EXPECT_GT(charts, 3U);
    for (const char* part :
         {"A run of gpt-neox-20b", "200 runs played, seed 3", "steps that count", "lost work", "waiting for nodes",
          "energy per token", "cost", "software every", "planned stops every", "software fails every", "Assumed",
          "<span>--price</span> <span>1.5</span> <span>--samples</span> <span>200</span>"}) {
        EXPECT_NE(page.find(part), std::string::npos) << part;
    }
    EXPECT_THAT(distributions.dump(), Not(HasSubstr("null"))) << "what is no number";
    EXPECT_EQ(test::run_weft(std::string(arguments) + "--report run.txt").exit_code, 2);
}

// Bins of the whole range, by counting again.
TEST(run_result, bins_hold_every_sample) {
    RunPlan plan;
    plan.run.stretches.push_back({});
    std::vector<RunSample> samples(7);
    for (std::size_t i = 0; i < samples.size(); ++i) samples[i].wall = Seconds{double(i)};
    const RunResult result = run_result(plan, samples, 1, std::nullopt, 1);
    const Distribution& time = result.quantity("time_s").distribution;
    EXPECT_EQ(time.least, 0);
    EXPECT_EQ(time.greatest, 6);
    ASSERT_EQ(time.counts.size(), 40u);
    for (std::size_t i = 0; i < 7; ++i) {
        EXPECT_EQ(time.counts[std::min<std::size_t>(i * 40 / 6, 39)], 1u) << i;
    }
    EXPECT_EQ(result.quantity("planned").distribution.counts, std::vector<std::uint64_t>{7});
    for (RunSample& sample : samples) sample.wall = Seconds{1000 + sample.wall.value};
    const RunResult narrow = run_result(plan, samples, 1, std::nullopt, 1);
    EXPECT_EQ(narrow.quantity("time_s").distribution.counts, std::vector<std::uint64_t>{7}) << "within 0.6 %";
}

// 0.1 and a third have no sum of seven that divides back.
TEST(run_result, the_mean_of_equal_values_is_that_value) {
    RunPlan plan;
    plan.run.stretches.push_back({});
    for (const double value : {0.1, 1.0 / 3, 1e9 / 7}) {
        const std::vector<RunSample> samples(7, {.wall = {value}});
        EXPECT_EQ(run_result(plan, samples, 1, std::nullopt, 1).quantity("time_s").spread.mean, value);
    }
}

}  // namespace
}  // namespace weft
