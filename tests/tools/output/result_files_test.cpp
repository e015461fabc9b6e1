#include "tools/output/result_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tests/refusal.hpp"
#include "tests/tools/program.hpp"
#include "tools/output/result_table.hpp"

namespace weft {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ResultTable example() {
    ResultTable table;
    table.columns = {{"layout.tensor", "", "varied", ColumnKind::key},
                     {"step_time_s", "s", "one step", ColumnKind::metric},
                     {"memory_fits", "", "peak within capacity", ColumnKind::metric},
                     {"reason", "", "why there is no result", ColumnKind::note}};
    table.rows = {{std::int64_t{1}, 0.25, true, {}}, {std::int64_t{2}, {}, {}, "12 heads, \"odd\""}};
    return table;
}

std::vector<ResultCell> column(const std::filesystem::path& path, std::string_view query) {
    const SqliteFile file(path);
    SqliteFile::Statement statement(file, query);
    std::vector<ResultCell> cells;
    while (statement.step()) cells.push_back(statement.value(0));
    return cells;
}

std::string refusal(const std::filesystem::path& path, const ResultTable& table) {
    return test::refusal_of<std::runtime_error>([&] { append_sqlite(path, {"sweep", "job", "abc"}, table); });
}

TEST(result_csv, leaves_nothing_empty_and_quotes_where_it_must) {
    EXPECT_EQ(result_csv(example()),
              "layout.tensor,step_time_s,memory_fits,reason\n"
              "1,0.25,true,\n"
              "2,,,\"12 heads, \"\"odd\"\"\"\n");
}

TEST(result_json_lines, leaves_out_keys_without_a_value) {
    EXPECT_EQ(result_json_lines(example()),
              "{\"schema\":2,\"layout.tensor\":1,\"step_time_s\":0.25,\"memory_fits\":true}\n"
              "{\"schema\":2,\"layout.tensor\":2,\"reason\":\"12 heads, \\\"odd\\\"\"}\n");
}

TEST(result_cell, of_json_gives_back_what_was_written) {
    EXPECT_TRUE(rc::check([](std::int64_t whole, double number, std::string text, bool flag) {
        for (const ResultCell& cell : {ResultCell(whole), ResultCell(number), ResultCell(flag), ResultCell()}) {
            RC_ASSERT(cell_of_json(cell_json(cell)) == cell);
        }
        for (char& c : text) c = static_cast<char>(c & 0x7f);
        RC_ASSERT(cell_of_json(cell_json(ResultCell(text))) == ResultCell(text));
    }));
    EXPECT_EQ(cell_of_json("fp16"), ResultCell("fp16"));
    EXPECT_EQ(cell_of_json("[1, 2]"), ResultCell("[1, 2]"));
    EXPECT_EQ(cell_of_json("1e3"), ResultCell(1000.0));
}

TEST(result_sqlite, has_typed_columns_and_says_where_they_come_from) {
    const test::TemporaryFolder folder;
    const std::filesystem::path path = folder.path() / "rows.sqlite";
    write_results(path, {"sweep", "job", "abc"}, example());
    EXPECT_THAT(column(path, "SELECT \"layout.tensor\" FROM results ORDER BY point"),
                ElementsAre(ResultCell(std::int64_t{1}), ResultCell(std::int64_t{2})));
    EXPECT_THAT(column(path, "SELECT step_time_s FROM results ORDER BY point"),
                ElementsAre(ResultCell(0.25), ResultCell()));
    EXPECT_THAT(column(path, "SELECT type FROM pragma_table_info('results')"),
                ElementsAre(ResultCell("INTEGER"), ResultCell("INTEGER"), ResultCell("INTEGER"), ResultCell("REAL"),
                            ResultCell("INTEGER"), ResultCell("TEXT")));
    EXPECT_THAT(
        column(path, "SELECT command || ' ' || job || ' ' || inputs || ' ' || points || ' ' || results FROM runs"),
        ElementsAre(ResultCell("sweep job abc 2 1")));
    EXPECT_THAT(column(path, "SELECT unit FROM columns WHERE name = 'step_time_s'"), ElementsAre(ResultCell("s")));
}

TEST(result_sqlite, keeps_runs_side_by_side_and_replaces_an_equal_one) {
    const test::TemporaryFolder folder;
    const std::filesystem::path path = folder.path() / "rows.sqlite";
    append_sqlite(path, {"sweep", "job", "abc"}, example());
    ResultTable other = example();
    other.columns[0].name = "batch.micro";
    append_sqlite(path, {"sweep", "job", "def"}, other);
    append_sqlite(path, {"sweep", "job", "abc"}, example());
    EXPECT_THAT(column(path, "SELECT inputs FROM runs ORDER BY inputs"),
                ElementsAre(ResultCell("abc"), ResultCell("def")));
    EXPECT_THAT(column(path, "SELECT count(*) FROM results"), ElementsAre(ResultCell(std::int64_t{4})));
    EXPECT_THAT(column(path, "SELECT \"batch.micro\" FROM results JOIN runs USING (run) WHERE inputs = 'abc'"),
                ElementsAre(ResultCell(), ResultCell()));
    EXPECT_THAT(column(path, "SELECT \"batch.micro\" FROM results JOIN runs USING (run) WHERE inputs = 'def'"),
                ElementsAre(ResultCell(std::int64_t{1}), ResultCell(std::int64_t{2})));
}

TEST(result_sqlite, leaves_files_of_others_alone) {
    const test::TemporaryFolder folder;
    const std::filesystem::path text = folder.path() / "text.sqlite", foreign = folder.path() / "foreign.sqlite";
    std::ofstream(text) << std::string(1000, 'x');
    SqliteFile(foreign).execute("CREATE TABLE runs (distance REAL)");
    EXPECT_THAT(refusal(text, example()), HasSubstr("not a database"));
    EXPECT_EQ(test::read_file(text), std::string(1000, 'x'));
    EXPECT_THAT(refusal(foreign, example()), HasSubstr("another program"));
    EXPECT_THAT(column(foreign, "SELECT name FROM sqlite_master"), ElementsAre(ResultCell("runs")));
    EXPECT_THAT(refusal(folder.path() / "none" / "x.sqlite", example()), HasSubstr("cannot write"));
}

TEST(result_sqlite, leaves_nothing_of_a_table_that_it_refuses) {
    const test::TemporaryFolder folder;
    ResultTable table = example();
    table.columns[1].name = "Point";
    EXPECT_THAT(refusal(folder.path() / "rows.sqlite", table), HasSubstr("another column called \"Point\""));
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(result_file, is_of_the_format_that_its_name_ends_in) {
    EXPECT_EQ(result_format("a.csv"), ResultFormat::csv);
    EXPECT_EQ(result_format("b/a.jsonl"), ResultFormat::json_lines);
    EXPECT_EQ(result_format("a.b.sqlite"), ResultFormat::sqlite);
    for (const char* name : {"", "csv", "a.parquet", "a.csv.gz"}) {
        EXPECT_THROW(result_format(name), std::invalid_argument) << name;
    }
}

}  // namespace
}  // namespace weft
