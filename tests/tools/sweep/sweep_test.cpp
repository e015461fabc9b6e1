#include "tools/sweep/sweep.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <stdexcept>

#include "tests/tools/program.hpp"

namespace weft {
namespace {

constexpr const char* job = WEFT_SOURCE_DIR "/workloads/jobs/frontier-gpt-neox-1.3b-sequence.json";

SweepGrid sequence_grid() {
    return SweepGrid({parse_variation("batch.sequence=512,1024,2048"), parse_variation("batch.micro=1,2,3")});
}

TEST(sweep_grid, is_the_product_with_the_last_key_fastest) {
    const SweepGrid grid({parse_variation("a=1,2"), parse_variation("b=x,y,z")});
    ASSERT_EQ(grid.size(), 6U);
    EXPECT_EQ(grid.point(0), (std::vector<std::string>{"1", "x"}));
    EXPECT_EQ(grid.point(1), (std::vector<std::string>{"1", "y"}));
    EXPECT_EQ(grid.point(5), (std::vector<std::string>{"2", "z"}));
}

TEST(sweep_grid, refuses_what_is_no_variation) {
    for (const char* text : {"", "key", "=1,2", "key=", "key=1,,2", "key=1,"}) {
        EXPECT_THROW(parse_variation(text), std::invalid_argument) << text;
    }
}

TEST(sweep, rows_are_the_same_for_any_number_of_threads) {
    const SweepGrid grid = sequence_grid();
    const std::string one =
        sweep_csv(grid, run_sweep(job, grid, {.overrides = {}, .simulation = {}, .threads = 1, .progress = {}}));
    for (const unsigned threads : {2U, 3U, 16U}) {
        EXPECT_EQ(one,
                  sweep_csv(grid, run_sweep(job, grid,
                                            {.overrides = {}, .simulation = {}, .threads = threads, .progress = {}})));
    }
}

TEST(sweep, a_point_that_cannot_run_keeps_its_row_and_says_why) {
    const SweepGrid grid = sequence_grid();
    const auto rows = run_sweep(job, grid, {.overrides = {}, .simulation = {}, .threads = 2, .progress = {}});
    ASSERT_EQ(rows.size(), 9U);
    for (const SweepRow& row : rows) {
        const bool divides = row.point[1] == "1";  // 16 sequences over 16 ranks
        EXPECT_EQ(row.metrics.empty(), !divides);
        EXPECT_EQ(row.reason.empty(), divides) << row.reason;
    }
    EXPECT_NE(rows[1].reason.find("does not divide 16"), std::string::npos) << rows[1].reason;
}

TEST(sweep, counts_every_point_in_its_progress) {
    std::size_t last = 0, calls = 0;
    const SweepGrid grid = sequence_grid();
    run_sweep(job, grid,
              {.overrides = {}, .simulation = {}, .threads = 4, .progress = [&](std::size_t done, std::size_t points) {
                   EXPECT_EQ(done, last + 1);
                   EXPECT_EQ(points, 9U);
                   last = done;
                   ++calls;
               }});
    EXPECT_EQ(calls, 9U);
}

TEST(sweep, longer_sequences_take_longer_and_need_more_memory) {
    const SweepGrid grid({parse_variation("batch.sequence=512,1024,2048,4096,8192")});
    const auto rows = run_sweep(job, grid, {.overrides = {}, .simulation = {}, .threads = 2, .progress = {}});
    const auto metric = [](const SweepRow& row, std::string_view key) {
        for (const Metric& m : row.metrics) {
            if (m.key == key) return m.value;
        }
        throw std::out_of_range("no such metric");
    };
    for (std::size_t i = 1; i < rows.size(); ++i) {
        EXPECT_GT(metric(rows[i], "step.time_s"), metric(rows[i - 1], "step.time_s"));
        EXPECT_GT(metric(rows[i], "memory.peak_bytes"), metric(rows[i - 1], "memory.peak_bytes"));
    }
}

TEST(sweep, the_command_writes_csv_and_json_lines) {
    const test::TemporaryFolder folder;
    const std::string csv = (folder.path() / "seq.csv").string(), lines = (folder.path() / "seq.jsonl").string();
    const std::string sweep = std::string("sweep ") + job + " --vary batch.sequence=512,1024 --out ";
    EXPECT_EQ(test::run_weft(sweep + csv).exit_code, 0);
    EXPECT_EQ(test::run_weft(sweep + lines).exit_code, 0);
    std::istringstream text(test::read_file(csv));
    std::string header, row;
    std::getline(text, header);
    EXPECT_TRUE(header.starts_with("batch.sequence,step_time_s,step_compute_s")) << header;
    EXPECT_TRUE(header.ends_with(",reason"));
    std::getline(text, row);
    EXPECT_TRUE(row.starts_with("512,")) << row;
    EXPECT_TRUE(test::read_file(lines).starts_with("{\"batch.sequence\":512,\"step_time_s\":"));
}

TEST(sweep, the_command_refuses_another_file_type_and_an_empty_variation) {
    EXPECT_EQ(test::run_weft(std::string("sweep ") + job + " --vary batch.sequence=512 --out x.parquet").exit_code, 2);
    EXPECT_EQ(test::run_weft(std::string("sweep ") + job + " --vary batch.sequence").exit_code, 2);
    EXPECT_EQ(test::run_weft(std::string("sweep ") + job).exit_code, 2);
}

TEST(sweep, without_a_single_result_the_input_was_bad) {
    const test::Ran ran = test::run_weft(std::string("sweep ") + job + " --vary layout.tensor=3,5,7");
    EXPECT_EQ(ran.exit_code, 3);
    EXPECT_NE(ran.err.find("layout"), std::string::npos);
}

}  // namespace
}  // namespace weft
