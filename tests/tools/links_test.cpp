// `--links` of simulate and collective: what each link carried, by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/tools/program.hpp"

namespace weft {
namespace {

using SortedJson = nlohmann::json;
using LinkRow = std::map<std::string, std::string>;

// None of these cells is quoted.
std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells;
    std::istringstream rest(line);
    for (std::string cell; std::getline(rest, cell, ',');) cells.push_back(cell);
    return cells;
}

std::vector<LinkRow> rows_of(const std::string& text) {
    std::istringstream lines(text);
    std::string line;
    std::getline(lines, line);
    const std::vector<std::string> headings = cells_of(line);
    std::vector<LinkRow> rows;
    while (std::getline(lines, line)) {
        const std::vector<std::string> cells = cells_of(line);
        EXPECT_EQ(cells.size(), headings.size()) << line;
        LinkRow& row = rows.emplace_back();
        for (std::size_t i = 0; i < cells.size(); ++i) row[headings[i]] = cells[i];
    }
    return rows;
}

double number(const LinkRow& row, const std::string& column) { return std::stod(row.at(column)); }
std::string name(const LinkRow& row) { return row.at("from") + " -> " + row.at("to") + " cable " + row.at("cable"); }

constexpr const char* job =
    "simulate workloads/jobs/frontier-gpt-neox-20b-3d.json --set batch.global=64 --set model.layers=8 --json ";

class links : public testing::Test {
  protected:
    std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

    // Of `weft ARGUMENTS --links FILE`.
    std::vector<LinkRow> run(const std::string& arguments) {
        const test::Ran ran = test::run_weft(arguments + " --links " + path("links.csv"));
        EXPECT_EQ(ran.exit_code, 0) << ran.err;
        EXPECT_EQ(ran.err, "");
        json_ = SortedJson::parse(ran.out);
        return rows_of(test::read_file(path("links.csv")));
    }

    test::TemporaryFolder folder_;
    SortedJson json_;
};

TEST_F(links, of_a_class_carry_together_what_the_report_says) {
    const std::vector<LinkRow> rows = run(job);
    const double time = json_.at("step").at("time_s");
    std::map<std::string, double> busy, peak, count;
    for (const LinkRow& row : rows) {
        const std::string& of = row.at("class");
        const double share = number(row, "load_bytes") / (number(row, "bandwidth_bytes_per_s") * time);
        EXPECT_NEAR(number(row, "busy"), share, 1e-12 * share);
        busy[of] += share;
        peak[of] = std::max(peak[of], share);
        ++count[of];
    }
    EXPECT_GT(busy.size(), 4U);
    for (const SortedJson& row : json_.at("links")) {
        const std::string of = row.at("class");
        if (!count.contains(of)) {  // no such link was built
            EXPECT_EQ(row.at("utilization"), 0);
            continue;
        }
        EXPECT_NEAR(busy[of] / count[of], row.at("utilization"), 1e-9 * busy[of] / count[of]) << of;
        EXPECT_NEAR(peak[of], row.at("peak_utilization"), 1e-9 * peak[of]) << of;
    }
}

TEST_F(links, each_have_a_name_of_their_own_and_the_hottest_are_among_them) {
    const std::vector<LinkRow> rows = run(job);
    std::map<std::string, double> bytes;
    for (const LinkRow& row : rows) {
        EXPECT_TRUE(bytes.emplace(name(row), number(row, "load_bytes")).second) << name(row);
    }
    ASSERT_GT(json_.at("hottest_links").size(), 3U);
    for (const SortedJson& hot : json_.at("hottest_links")) {
        const std::string text = hot.at("from").get<std::string>() + " -> " + hot.at("to").get<std::string>();
        const double own = hot.at("load_bytes");
        EXPECT_NEAR(bytes.at(text + " cable 0"), own, 1e-9 * own) << text;
        const auto as_much = std::ranges::count_if(rows, [&](const LinkRow& row) {
            return row.at("class") == hot.at("class") && std::abs(number(row, "load_bytes") - own) <= 1e-9 * own;
        });
        EXPECT_EQ(as_much, hot.at("links_alike")) << text;
    }
    EXPECT_EQ(json_.at("hottest_links")[0].at("utilization"), json_.at("links")[0].at("peak_utilization"));
}

TEST_F(links, are_the_same_folded_and_each_rank_on_its_own) {
    const std::vector<LinkRow> folded = run(std::string(job) + "--fold exact");
    EXPECT_LT(json_.at("simulation").at("classes"), json_.at("simulation").at("ranks"));
    const std::vector<LinkRow> own = run(std::string(job) + "--no-fold");
    EXPECT_EQ(json_.at("simulation").at("classes"), json_.at("simulation").at("ranks"));
    ASSERT_EQ(folded.size(), own.size());
    for (std::size_t i = 0; i < own.size(); ++i) {
        ASSERT_EQ(name(folded[i]), name(own[i]));
        ASSERT_NEAR(number(folded[i], "load_bytes"), number(own[i], "load_bytes"), 1e-9 * number(own[i], "load_bytes"))
            << name(own[i]);
    }
}

// What the slices hold is what the whole step has, and no link is busier than it can be.
TEST_F(links, in_slices_carry_together_what_they_do_in_the_step) {
    std::map<std::string, double> whole, sum;
    for (const LinkRow& row : run(job)) {
        if (number(row, "load_bytes") > 0) whole[name(row)] = number(row, "load_bytes");
    }
    const std::vector<LinkRow> rows = run(std::string(job) + "--link-samples 7");
    EXPECT_EQ(rows.size(), 7 * whole.size());
    const double time = json_.at("step").at("time_s");
    for (const LinkRow& row : rows) {
        sum[name(row)] += number(row, "load_bytes");
        const double slice = number(row, "slice");
        EXPECT_NEAR(number(row, "begin_s"), time * slice / 7, 1e-12 * time);
        EXPECT_NEAR(number(row, "end_s"), time * (slice + 1) / 7, 1e-12 * time);
        EXPECT_LE(number(row, "busy"), 1 + 1e-6);
    }
    for (const auto& [link, bytes] : whole) EXPECT_NEAR(sum[link], bytes, 1e-9 * bytes) << link;
}

TEST_F(links, of_a_collective_are_those_of_each_size) {
    const std::vector<LinkRow> rows = run("collective all_reduce --machine frontier --ranks 32 --sizes 1M,64M --json");
    std::map<std::string, std::map<std::string, double>> peak;  // by size and class
    for (const LinkRow& row : rows) {
        double& most = peak[row.at("size_bytes")][row.at("class")];
        most = std::max(most, number(row, "busy"));
    }
    ASSERT_EQ(json_.at("rows").size(), 2U);
    for (const SortedJson& row : json_.at("rows")) {
        std::map<std::string, double>& of = peak.at(std::to_string(row.at("size_bytes").get<std::int64_t>()));
        ASSERT_FALSE(row.at("links").empty());
        for (const SortedJson& use : row.at("links")) {
            EXPECT_NEAR(of.at(use.at("class")), use.at("utilization"), 1e-9 * of.at(use.at("class")));
        }
        const SortedJson& hottest = row.at("hottest_links")[0];
        EXPECT_NEAR(of.at(hottest.at("class")), hottest.at("utilization"), 1e-9);
    }
    const test::Ran text = test::run_weft("collective all_reduce --machine frontier --ranks 32 --sizes 64M");
    EXPECT_THAT(text.out, testing::HasSubstr("# hottest links at 67108864 B:\n"));
    EXPECT_THAT(text.out,
                testing::ContainsRegex("# +[0-9.]+ %  slingshot.nic +node [0-9]+ NIC [0-9] -> group 0 switch"));
}

TEST_F(links, of_what_fails_leave_an_earlier_file_alone) {
    std::ofstream(path("links.csv")) << "earlier\n";
    const std::string file = " --links " + path("links.csv");
    EXPECT_EQ(test::run_weft(job + ("--set layout.tensor=3" + file)).exit_code, 3);
    const test::Ran refused = test::run_weft(
        "collective all_reduce --machine frontier --ranks 16 --sizes 1M --algorithm ring --protocol nothing" + file);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_EQ(test::read_file(path("links.csv")), "earlier\n");
}

TEST_F(links, say_what_they_go_with) {
    const auto err = [](const std::string& arguments) {
        const test::Ran ran = test::run_weft(arguments);
        EXPECT_EQ(ran.exit_code, 2);
        return ran.err;
    };
    using testing::HasSubstr;
    EXPECT_THAT(err(std::string(job) + "--link-samples 3"), HasSubstr("--link-samples is of the file"));
    EXPECT_THAT(err(std::string(job) + "--links x.txt"), HasSubstr("--links: expected a name that ends in .csv"));
    EXPECT_THAT(err(std::string(job) + "--compare --links " + path("x.csv")), HasSubstr("--compare runs both"));
}

}  // namespace
}  // namespace weft
