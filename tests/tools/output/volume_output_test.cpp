#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/csv.hpp"
#include "tests/tools/program.hpp"
#include "tools/output/volume_text.hpp"

namespace weft {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

VolumeRow row(std::string op, double calls, double message, double volume, std::string when) {
    VolumeRow out;
    out.op = std::move(op);
    out.dimension = "data";
    out.group_size = 2;
    out.calls = calls;
    out.message = {message};
    out.volume = {volume};
    out.when = std::move(when);
    return out;
}

// In one step of three micro-batches: all-gather 3 x 100 + 50, all-reduce 3 x 50, of 500 bytes.
VolumeTable example() {
    VolumeTable table;
    table.micro_batches = 3;
    table.rows = {row("broadcast", 4, 1000, 4000, "start-up"), row("all_gather", 2, 100, 100, "micro-batch"),
                  row("all_reduce", 1, 50, 50, "micro-batch"), row("all_gather", 7, 640, 4480, "first-step"),
                  row("all_gather", 1, 100, 50, "step")};
    return table;
}

TEST(volume_totals, sum_one_steady_step) {
    const std::vector<CollectiveTotal> totals = steady_totals(example());
    ASSERT_EQ(totals.size(), 2u);
    EXPECT_EQ(totals[0].op, "all_gather");
    EXPECT_EQ(totals[0].calls, 2 * 3 + 1);
    EXPECT_EQ(totals[0].volume, Bytes{350});
    EXPECT_DOUBLE_EQ(totals[0].share, 0.7);
    EXPECT_EQ(totals[1].op, "all_reduce");
    EXPECT_EQ(totals[1].volume, Bytes{150});
    EXPECT_DOUBLE_EQ(totals[1].share, 0.3);
    EXPECT_EQ(sum(totals), Bytes{500});
}

TEST(volume_totals, keep_what_is_moved_once_apart) {
    const std::vector<CollectiveTotal> totals = once_totals(example(), "start-up");
    ASSERT_EQ(totals.size(), 1u);
    EXPECT_EQ(totals[0].op, "broadcast");
    EXPECT_EQ(totals[0].volume, Bytes{4000});
    EXPECT_EQ(totals[0].share, 1.0);
    EXPECT_EQ(sum(once_totals(example(), "first-step")), Bytes{4480});
}

TEST(volume_totals, of_nothing_are_no_shares) {
    VolumeTable table;
    table.rows = {row("all_reduce", 1, 4, 0, "step")};  // a group of one rank
    ASSERT_EQ(steady_totals(table).size(), 1u);
    EXPECT_EQ(steady_totals(table)[0].share, 0.0);
    EXPECT_TRUE(steady_totals({}).empty());
}

TEST(volume_text, shows_totals_and_only_columns_that_are_filled) {
    const std::string text = volume_text(example());
    EXPECT_THAT(text, HasSubstr("\nstart-up: 3.91 KiB per rank\n"));
    EXPECT_THAT(text, HasSubstr("\nfirst step only: 4.38 KiB per rank\n"));
    EXPECT_THAT(text, HasSubstr("\none step (3 micro-batches): 500 B per rank\n"
                                "  op          calls  volume   share\n"
                                "  all_gather      7   350 B  70.0 %\n"
                                "  all_reduce      3   150 B  30.0 %\n"));
    EXPECT_THAT(text, Not(HasSubstr("type")));
    EXPECT_THAT(text, Not(HasSubstr("logged")));
    VolumeTable table = example();
    table.rows[1].type = "fp16";
    table.rows[1].logged = 50;
    table.rows[1].label = "parameters of a layer";
    EXPECT_THAT(volume_text(table), HasSubstr("micro-batch  fp16    50 B  parameters of a layer\n"));
}

TEST(volume_text, of_a_rank_that_sends_nothing_says_so) {
    EXPECT_THAT(volume_text({}), HasSubstr("one step (1 micro-batch): 0 B per rank\n"));
}

TEST(volume_json, has_rows_totals_and_the_histogram_on_request) {
    VolumeTable table = example();
    table.rows[1].type = "fp16";
    table.rows[1].logged = 50;
    const auto json = nlohmann::json::parse(volume_json(table));
    EXPECT_EQ(json.at("rows").size(), 5u);
    EXPECT_EQ(json.at("rows")[1].at("logged_bytes"), 50);
    EXPECT_EQ(json.at("rows")[1].at("type"), "fp16");
    EXPECT_FALSE(json.at("rows")[0].contains("logged_bytes"));
    EXPECT_EQ(json.at("totals").at("volume_bytes"), 500);
    EXPECT_EQ(json.at("totals").at("micro_batches"), 3);
    EXPECT_EQ(json.at("totals").at("collectives")[0].at("percent"), 70);
    EXPECT_EQ(json.at("totals").at("start_up")[0].at("volume_bytes"), 4000);
    EXPECT_EQ(json.at("totals").at("first_step")[0].at("calls"), 7);
    EXPECT_FALSE(json.contains("histogram"));
    const auto bins = nlohmann::json::parse(volume_json(table, VolumeParts::rows_and_histogram)).at("histogram");
    ASSERT_EQ(bins.size(), 2u);
    EXPECT_EQ(bins[0], nlohmann::json::parse(
                           R"({"op": "all_gather", "from_bytes": 64, "to_bytes": 128, "calls": 7, "bytes": 700})"));
}

TEST(volume_csv, adds_up_to_the_totals) {
    test::TemporaryFolder folder;
    const auto rows_of = [&](const std::string& text) {
        std::ofstream(folder.path() / "table.csv") << text;
        return test::read_csv((folder.path() / "table.csv").string());
    };
    VolumeTable table = example();
    table.rows[0].label = "weights, \"all\"";
    const std::vector<test::CsvRow> rows = rows_of(volume_csv(table));
    ASSERT_EQ(rows.size(), 5u);
    double bytes = 0, percent = 0;
    for (const test::CsvRow& r : rows) {
        bytes += std::stod(r.at("step_bytes"));
        percent += std::stod(r.at("step_percent"));
    }
    EXPECT_EQ(bytes, 500);
    EXPECT_DOUBLE_EQ(percent, 100);
    EXPECT_EQ(rows[0].at("when"), "start-up");
    EXPECT_EQ(rows[0].at("logged_bytes"), "");
    EXPECT_THAT(volume_csv(table), HasSubstr(",\"weights, \"\"all\"\"\","));

    const std::vector<test::CsvRow> totals = rows_of(volume_totals_csv(table));
    ASSERT_EQ(totals.size(), 4u);
    EXPECT_EQ(totals[2].at("op"), "all_gather");
    EXPECT_EQ(totals[2].at("when"), "step");
    EXPECT_EQ(totals[2].at("volume_bytes"), "350");
    EXPECT_EQ(totals[2].at("percent"), "70");
}

TEST(volume_command, prints_histograms_and_totals) {
    const std::string job = "volume workloads/jobs/frontier-gpt-neox-1.3b-sequence.json --view paper ";
    EXPECT_THAT(test::run_weft(job + "--histogram").out, HasSubstr("messages of one step\n\nreduce_scatter: 1 call\n"));
    EXPECT_THAT(test::run_weft(job + "--csv --histogram").out,
                HasSubstr("op,from_bytes,to_bytes,calls,bytes\nreduce_scatter,2147483648,4294967296,1,"));
    EXPECT_THAT(test::run_weft(job + "--csv --totals").out, HasSubstr("\nreduce_scatter,step,1,"));
    EXPECT_EQ(test::run_weft(job + "--totals").exit_code, 2);
    EXPECT_EQ(test::run_weft(job + "--csv --json").exit_code, 2);
    EXPECT_EQ(test::run_weft(job + "--csv --totals --histogram").exit_code, 2);
}

}  // namespace
}  // namespace weft
