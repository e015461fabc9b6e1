#include "tools/sweep/sweep.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <stdexcept>

#include "sim/io/diagnostics.hpp"
#include "tests/refusal.hpp"
#include "tests/tools/program.hpp"
#include "tools/output/result_table.hpp"

namespace weft {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* job = WEFT_SOURCE_DIR "/workloads/jobs/frontier-gpt-neox-1.3b-sequence.json";

SweepRequest sequence_request() {
    SweepRequest request;
    request.job = job;
    request.grid = SweepGrid({parse_variation("batch.sequence=512,1024,2048"), parse_variation("batch.micro=1,2,3")});
    return request;
}

SweepRun::Outcome swept(const SweepRequest& request, unsigned threads = 2, const SweepSettings& settings = {}) {
    const std::unique_ptr<Crew> crew = thread_crew(threads);
    return SweepRun(request).run(*crew, settings);
}

const ResultCell& cell(const ResultTable& table, std::size_t row, std::string_view column) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        if (table.columns[i].name == column) return table.rows[row][i];
    }
    throw std::out_of_range("no such column");
}
double number(const ResultTable& table, std::size_t row, std::string_view column) {
    return std::get<double>(cell(table, row, column));
}

template <class Do>
std::string refusal(Do act) {
    return test::refusal_of<std::exception>(act);
}

TEST(sweep, rows_are_the_same_for_any_number_of_threads) {
    const std::string one = result_csv(swept(sequence_request(), 1).table());
    for (const unsigned threads : {2U, 3U, 16U}) EXPECT_EQ(one, result_csv(swept(sequence_request(), threads).table()));
}

TEST(sweep, a_point_that_cannot_run_keeps_its_row_and_says_why) {
    const ResultTable table = swept(sequence_request()).table();
    ASSERT_EQ(table.rows.size(), 9U);
    for (std::size_t row = 0; row < 9; ++row) {
        const bool divides = cell(table, row, "batch.micro") == ResultCell(std::int64_t{1});  // 16 sequences, 16 ranks
        EXPECT_EQ(has_result(table.rows[row]), divides);
        EXPECT_EQ(cell(table, row, "step_time_s") == ResultCell(), !divides);
    }
    EXPECT_THAT(std::get<std::string>(cell(table, 1, "reason")), HasSubstr("does not divide 16"));
}

TEST(sweep, counts_every_point_in_its_progress) {
    std::size_t last = 0;
    SweepSettings settings;
    settings.progress = [&](std::size_t done, std::size_t rows) {
        EXPECT_EQ(done, last + 1);
        EXPECT_EQ(rows, 9U);
        last = done;
    };
    swept(sequence_request(), 4, settings);
    EXPECT_EQ(last, 9U);
}

TEST(sweep, leaves_out_points_that_do_not_hold_for_its_conditions) {
    SweepRequest request = sequence_request();
    request.conditions = {"batch.sequence * batch.micro <= 1024", "batch.micro != 3"};
    const ResultTable table = swept(request).table();
    ASSERT_EQ(table.rows.size(), 3U);  // 512 x 1, 512 x 2, 1024 x 1
    EXPECT_EQ(cell(table, 2, "batch.sequence"), ResultCell(std::int64_t{1024}));
    request.conditions = {"batch.micro > 3"};
    EXPECT_THAT(refusal([&] { swept(request); }), HasSubstr("none of the 9 points holds for \"batch.micro > 3\""));
}

TEST(sweep, volumes_of_its_dimensions_add_up) {
    SweepRequest request = sequence_request();
    request.overrides = {"batch.micro=1"};
    request.grid =
        SweepGrid({parse_zip("layout.tensor=2,1,1 layout.pipeline=1,2,1 layout.data=8,8,16 batch.global=8,8,16")});
    const ResultTable table = swept(request).table();
    for (std::size_t row = 0; row < 3; ++row) {
        double sum = 0;
        for (const char* name : {"tensor", "context", "expert", "data", "pipeline", "other"}) {
            sum += number(table, row, std::string("communication_") + name + "_bytes");
        }
        EXPECT_NEAR(sum, number(table, row, "communication_bytes"), 1e-6 * sum);
        EXPECT_EQ(number(table, row, "communication_tensor_bytes") > 0, row == 0);
        EXPECT_EQ(number(table, row, "communication_pipeline_bytes") > 0, row == 1);
        EXPECT_GT(number(table, row, "communication_data_bytes"), 0);
        EXPECT_EQ(number(table, row, "throughput_tokens_per_s_per_gpu") * 16,
                  number(table, row, "throughput_tokens_per_s"));
    }
}

TEST(sweep, longer_sequences_take_longer_and_need_more_memory) {
    SweepRequest request = sequence_request();
    request.grid = SweepGrid({parse_variation("batch.sequence=512..8192*2")});
    const ResultTable table = swept(request).table();
    for (std::size_t row = 1; row < 5; ++row) {
        EXPECT_GT(number(table, row, "step_time_s"), number(table, row - 1, "step_time_s"));
        EXPECT_GT(std::get<std::int64_t>(cell(table, row, "memory_peak_bytes")),
                  std::get<std::int64_t>(cell(table, row - 1, "memory_peak_bytes")));
    }
}

TEST(sweep, goes_on_from_its_journal_wherever_it_was_stopped) {
    const SweepRequest request = sequence_request();
    const std::string whole = result_csv(swept(request).table());
    for (int stop_after = 1; stop_after < 9; stop_after += 3) {
        const test::TemporaryFolder folder;
        SweepSettings settings;
        settings.out = folder.path() / "rows.csv";
        settings.resume = Resume::yes;
        std::atomic<int> done = 0;
        settings.stopped = [&] { return done >= stop_after; };
        settings.progress = [&](std::size_t, std::size_t) { ++done; };
        EXPECT_FALSE(swept(request, 1, settings).is_complete());
        // As if the last line had been cut off by a kill, too.
        std::ofstream(Journal::path_of(*settings.out), std::ios::app) << "[8,512,1,0.2";
        settings.stopped = [] { return false; };
        settings.progress = [](std::size_t, std::size_t) {};
        const SweepRun::Outcome outcome = swept(request, 2, settings);
        EXPECT_EQ(outcome.resumed, static_cast<std::size_t>(stop_after));
        EXPECT_EQ(result_csv(outcome.table()), whole);
    }
}

TEST(sweep, refuses_a_journal_of_other_inputs_and_says_in_what_they_differ) {
    const test::TemporaryFolder folder;
    SweepSettings settings;
    settings.out = folder.path() / "rows.csv";
    swept(sequence_request(), 1, settings);
    EXPECT_THAT(refusal([&] { swept(sequence_request(), 1, settings); }), HasSubstr("--resume goes on with it"));
    settings.resume = Resume::yes;
    SweepRequest other = sequence_request();
    other.overrides = {"zero=2"};
    EXPECT_THAT(refusal([&] { swept(other, 1, settings); }), HasSubstr("of other inputs (values set)"));
    other = sequence_request();
    other.conditions = {"batch.micro < 3"};
    EXPECT_THAT(refusal([&] { swept(other, 1, settings); }), HasSubstr("(varied values and conditions)"));
}

// What a sweep makes of a journal, and what it says of it.
struct Resumed {
    std::string csv;        // empty: refused
    std::size_t rows = 0;   // that it kept
    std::string said = {};  // on stderr, or as the reason
};
Resumed resumed_from(const std::string& journal) {
    const test::TemporaryFolder folder;
    SweepSettings settings;
    settings.out = folder.path() / "rows.csv";
    settings.resume = Resume::yes;
    std::ofstream(Journal::path_of(*settings.out), std::ios::binary) << journal;
    Resumed resumed;
    testing::internal::CaptureStderr();
    const std::string reason = refusal([&] {
        const SweepRun::Outcome outcome = swept(sequence_request(), 1, settings);
        resumed = {.csv = result_csv(outcome.table()), .rows = outcome.resumed};
    });
    resumed.said = testing::internal::GetCapturedStderr() + reason;
    return resumed;
}

std::string whole_journal() {
    const test::TemporaryFolder folder;
    SweepSettings settings;
    settings.out = folder.path() / "rows.csv";
    swept(sequence_request(), 1, settings);
    return test::read_file(Journal::path_of(*settings.out));
}

TEST(sweep, keeps_whole_rows_of_a_damaged_journal_and_says_what_is_not) {
    const std::string journal = whole_journal(), csv = resumed_from(journal).csv;
    const std::size_t header = journal.find('\n') + 1;
    EXPECT_EQ(resumed_from(journal).rows, 9U);
    EXPECT_EQ(resumed_from(journal).said, "");
    std::string flipped = journal;  // a digit of the fourth row's time
    std::size_t at = header;
    for (int line = 0; line < 3; ++line) at = flipped.find('\n', at) + 1;
    at = flipped.find("0.", at) + 3;
    flipped[at] = flipped[at] == '7' ? '8' : '7';
    const Resumed digit = resumed_from(flipped);
    EXPECT_EQ(digit.csv, csv);
    EXPECT_EQ(digit.rows, 8U);
    EXPECT_THAT(digit.said, HasSubstr("rows.csv.journal:5:1: error: damaged"));
    EXPECT_THAT(digit.said, HasSubstr("8 rows are whole, 1 lines are not: their rows are done again"));
    // Blocks that a power cut left unwritten read as zeros; with a row behind them, too.
    for (const std::string& tail :
         {std::string(4096, '\0'), std::string(100, '\0') + "\n", std::string(9, '\0') + "[1]\n"}) {
        const Resumed zeros = resumed_from(journal.substr(0, journal.size() - 40) + tail);
        EXPECT_EQ(zeros.csv, csv);
        EXPECT_EQ(zeros.rows, 8U);
        EXPECT_EQ(zeros.said.empty(), tail.size() == 4096) << "a last line without its end is no news";
    }
    std::string header_flipped = journal;
    header_flipped[header / 2] ^= 1;
    EXPECT_THAT(resumed_from(header_flipped).said, HasSubstr("rows.csv.journal:1:1: error: damaged"));
}

// Whatever byte of the journal changes, rows are those of the sweep, or nothing comes out.
TEST(sweep, no_change_of_a_byte_of_its_journal_comes_into_its_rows) {
    const std::string journal = whole_journal(), csv = resumed_from(journal).csv;
    std::mt19937 random(7);
    for (int i = 0; i < 40; ++i) {
        std::string changed = journal;
        const std::size_t at = random() % changed.size();
        changed[at] = static_cast<char>(static_cast<unsigned char>(changed[at]) ^ (1U << random() % 8));
        const Resumed resumed = resumed_from(changed);
        if (at <= journal.find('\n')) {
            EXPECT_THAT(resumed.said, HasSubstr(":1:1: error: damaged")) << "byte " << at;
        } else {
            EXPECT_EQ(resumed.csv, csv) << "byte " << at;
        }
    }
}

TEST(sweep_inputs, are_told_apart_by_files_that_the_job_names) {
    const test::TemporaryFolder folder;
    const std::filesystem::path path = folder.path() / "job.json", model = folder.path() / "model.json";
    std::ofstream(path) << R"({"machine": "frontier", "model": "model.json"})";
    std::ofstream(model) << "{}";
    SweepRequest request = sequence_request();
    request.job = path;
    const SweepInputs before = inputs_of(request);
    EXPECT_EQ(before, inputs_of(request));
    std::ofstream(model) << R"({"layers": 2})";
    EXPECT_EQ(before.difference(inputs_of(request)), "files that the job names");
}

TEST(sweep_file, is_a_job_with_what_varies) {
    const test::TemporaryFolder folder;
    const std::filesystem::path path = folder.path() / "sweep.json";
    std::ofstream(path) << R"({"job": "job.json", "set": {"nodes": null, "zero": 1}, "where": "a.b < 2",
        "zip": [{"a.b": [1, {"c": 2}], "d": "x,y"}], "vary": {"e": "1..3", "f": [true]}})";
    const std::optional<SweepFile> file = read_sweep_file(path);
    ASSERT_TRUE(file);
    EXPECT_EQ(file->job, folder.path() / "job.json");
    EXPECT_THAT(file->overrides, ElementsAre("nodes=null", "zero=1"));
    EXPECT_THAT(file->zipped.at(0).keys, ElementsAre("a.b", "d"));
    EXPECT_THAT(file->zipped.at(0).steps.at(1), ElementsAre("{\"c\":2}", "y"));
    EXPECT_EQ(file->varied.at(0).steps.size(), 3U);
    EXPECT_THAT(file->conditions, ElementsAre("a.b < 2"));
    EXPECT_FALSE(read_sweep_file(job));
    std::ofstream(path) << R"({"job": "job.json", "zip": [{"a": [1], "b": [1, 2]}], "vary": {"e": "3..1"}, "wher": 1})";
    const std::string text = refusal([&] { read_sweep_file(path); });
    EXPECT_THAT(text, HasSubstr("a has 1 values but b has 2"));
    EXPECT_THAT(text, HasSubstr("vary.e: range \"3..1\""));
    EXPECT_THAT(text, HasSubstr("did you mean \"where\""));
}

TEST(sweep_shard, is_every_nth_row_and_shards_make_the_whole) {
    EXPECT_EQ(parse_shard("3/8"), (SweepShard{3, 8}));
    for (const char* text : {"", "1", "0/2", "3/2", "a/2", "1/", "-1/2", "1/2/3"}) {
        EXPECT_THROW(parse_shard(text), std::invalid_argument) << text;
    }
    for (const std::size_t points : {1U, 7U, 64U}) {
        std::size_t sum = 0;
        for (std::uint32_t i = 1; i <= 5; ++i) sum += rows_of(points, {i, 5});
        EXPECT_EQ(sum, points);
    }
}

}  // namespace
}  // namespace weft
