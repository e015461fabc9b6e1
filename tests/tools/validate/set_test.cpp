// Reading of validation sets: what they mean, and every mistake at its line.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "sim/io/diagnostics.hpp"
#include "tools/validate/run.hpp"

namespace weft {
namespace {

using testing::HasSubstr;

constexpr const char* head = R"({
    "title": "Runs", "source": "nowhere", "bounds": {"mean": 0.1},
    "job": {"machine": "dgx-a100", "model": "gpt3-125m", "batch": {"global": 8}}
})";

ValidationSet read(const std::string& table, const std::string& json = head) {
    return read_validation_set("runs.json", json, "runs.csv", table);
}

std::string complaint(const std::function<void()>& action) {
    try {
        action();
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "nothing";
}
std::string refusal(const std::string& table, const std::string& json = head) {
    return complaint([&] { read(table, json); });
}

TEST(validation_set, has_the_rows_of_its_table) {
    const ValidationSet set = read(
        "# where it comes from\n"
        "name,use,measured.step_s,layout.tensor,measured.peak_bytes,note\n"
        "\"a, b\",fit,1.5,2,,twice\n"
        "\n"
        "c,predict,2,,4e9,\n");
    ASSERT_EQ(set.rows.size(), 2U);
    EXPECT_EQ(set.name, "runs");
    EXPECT_EQ(set.rows[0].name, "a, b");
    EXPECT_EQ(set.rows[0].use, RowUse::fit);
    EXPECT_EQ(set.rows[0].note, "twice");
    ASSERT_EQ(set.rows[0].cells.size(), 1U);
    EXPECT_EQ(set.rows[0].cells[0].key, "layout.tensor");
    ASSERT_EQ(set.rows[0].measured.size(), 1U);
    EXPECT_DOUBLE_EQ(set.rows[0].measured[0].value, 1.5);
    EXPECT_EQ(set.rows[1].line, 5);
    EXPECT_TRUE(set.rows[1].cells.empty()) << "an empty cell leaves the common value";
    ASSERT_EQ(set.rows[1].measured.size(), 2U);
    EXPECT_EQ(set.rows[1].measured[1].quantity, "peak_bytes");
}

TEST(validation_set, puts_cells_over_common_keys) {
    const ValidationSet set = read("name,use,measured.step_s,layout.tensor,batch.global\na,predict,1,2,16\n");
    const std::string job = row_document(set, set.rows[0]).text();
    EXPECT_THAT(job, HasSubstr(R"("layout":{"tensor":2})"));
    EXPECT_THAT(job, HasSubstr(R"("global":16)"));
    EXPECT_THAT(job, HasSubstr(R"("model":"gpt3-125m")"));
}

TEST(validation_set, takes_a_row_with_a_reason_for_disturbed) {
    const ValidationSet set = read("name,use,measured.step_s,disturbed\na,predict,1,\nb,fit,2,another job ran\n");
    EXPECT_EQ(set.rows[0].use, RowUse::predict);
    EXPECT_EQ(set.rows[1].use, RowUse::disturbed);
    EXPECT_EQ(set.rows[1].disturbed, "another job ran");
}

TEST(validation_set, tells_all_mistakes_of_a_table_at_once) {
    const std::string what = refusal(
        "name,use,measured.step_s,measured.stepp_s\n"
        "a,predict,fast,\n"
        "a,guess,1,\n"
        "b,predict,,\n"
        ",fit,-1,\n"
        "d,fit,1\n");
    EXPECT_THAT(what, HasSubstr("runs.csv:1:1: error: measured.stepp_s: unknown quantity, did you mean \"step_s\"?"));
    EXPECT_THAT(what, HasSubstr("runs.csv:2:1: error: measured.step_s: expected a number above 0, got \"fast\""));
    EXPECT_THAT(what, HasSubstr("runs.csv:3:1: error: use: expected fit or predict, got \"guess\""));
    EXPECT_THAT(what, HasSubstr("runs.csv:3:1: error: \"a\" is the name of line 2, too"));
    EXPECT_THAT(what, HasSubstr("runs.csv:4:1: error: \"b\": nothing measured"));
    EXPECT_THAT(what, HasSubstr("runs.csv:5:1: error: a row without a name"));
    EXPECT_THAT(what, HasSubstr("runs.csv:5:1: error: measured.step_s: expected a number above 0, got \"-1\""));
    EXPECT_THAT(what, HasSubstr("runs.csv:6:1: error: expected 4 columns, got 3"));
}

TEST(validation_set, misses_columns_that_must_be_there) {
    const std::string what = refusal("layout.tensor\n2\n");
    EXPECT_THAT(what, HasSubstr("no column is called \"name\""));
    EXPECT_THAT(what, HasSubstr("no column is called \"use\""));
    EXPECT_THAT(what, HasSubstr("no column begins with \"measured.\""));
    EXPECT_THAT(refusal(""), HasSubstr("expected a line of column names"));
    EXPECT_THAT(refusal("name,use,measured.step_s\n"), HasSubstr("without a row"));
}

TEST(validation_set, refuses_keys_that_it_does_not_know) {
    const std::string row = "name,use,measured.step_s\na,fit,1\n";
    EXPECT_THAT(refusal(row, R"({"title": "t", "source": "s", "bound": {}, "job": {}})"),
                HasSubstr("did you mean \"bounds\"?"));
    EXPECT_THAT(refusal(row, R"({"title": "t", "source": "s", "bounds": {"mean": 0, "men": 1}, "job": {}})"),
                testing::AllOf(HasSubstr("bounds.mean: expected a relative error above 0"), HasSubstr("bounds.men")));
    EXPECT_THAT(refusal(row), HasSubstr("bounds: no row is marked predict"));
}

// The place of a job's mistake is its row; what all rows get wrong is told once.
TEST(validation_set, tells_mistakes_of_jobs_by_row_and_key) {
    const std::vector<ValidationSet> sets{
        read("name,use,measured.step_s,layout.tensr,layout.tensor\n"
             "a,predict,1,2,\n"
             "b,predict,1,2,\n"
             "c,predict,1,,7\n")};
    const std::string what = complaint([&] { validation_cases(sets); });
    EXPECT_THAT(what, HasSubstr("runs.csv:2:1: error: layout.tensr: "));
    EXPECT_THAT(what, HasSubstr("(row \"a\" and 1 more)"));
    EXPECT_THAT(what, HasSubstr("runs.csv:4:1: error: layout.tensor: "));
    EXPECT_THAT(what, HasSubstr("(row \"c\")"));
}

TEST(validation_set, tells_mistakes_of_common_keys_at_the_set) {
    const std::vector<ValidationSet> sets{read(
        "name,use,measured.step_s\na,fit,1\nb,fit,1\n",
        R"({"title": "t", "source": "s", "job": {"machine": "dgx-a100", "model": "gpt3-126m", "batch": {"global": 8}}})")};
    const std::string what = complaint([&] { validation_cases(sets); });
    EXPECT_THAT(what, HasSubstr("runs.json: error: model: "));
    EXPECT_THAT(what, HasSubstr("(row \"a\" and 1 more)"));
}

// Mean and 90th percentile of the rows of either use: no set goes unjudged.
TEST(validation_set, every_shipped_one_has_bounds) {
    for (const std::string& name : validation_set_names()) {
        const ValidationSet set = load_validation_set(name);
        for (const auto& [use, bounds] : {std::pair(RowUse::predict, set.bounds), {RowUse::fit, set.residual_bounds}}) {
            const bool has_rows = std::ranges::count(set.rows, use, &ValidationRow::use) > 0;
            EXPECT_EQ(bounds.mean && bounds.percentile_90, has_rows)
                << set.path << ": mean and p90 of rows marked " << enumerator_name(use);
        }
    }
}

TEST(validation_set, every_shipped_one_reads_and_plans) {
    std::vector<ValidationSet> sets;
    for (const std::string& name : validation_set_names()) sets.push_back(load_validation_set(name));
    EXPECT_FALSE(sets.empty());
    EXPECT_EQ(complaint([&] { validation_cases(sets); }), "nothing");
}

// Any text is a set or a ConfigError; anything else that is thrown fails the test.
RC_GTEST_PROP(validation_set, reads_or_refuses_any_table, ()) {
    const auto cell = rc::gen::element<std::string>("name", "use", "measured.step_s", "layout.tensor", "fit", "predict",
                                                    "1", "-2", "1e999", "nan", "\"", "\"a,b\"", "#", "", " ", "a", ".");
    const auto end = rc::gen::element<std::string>(",", ",", ",", "\n", "\r\n", "");
    std::string table =
        *rc::gen::element<std::string>("", "name,use,measured.step_s\n", "name,use,measured.step_s,a.b\n");
    for (int i = *rc::gen::inRange(0, 40); i > 0; --i) table += *cell + *end;
    try {
        for (const ValidationRow& row : read(table).rows) {
            RC_ASSERT(!row.name.empty());
            RC_ASSERT(!row.measured.empty());
        }
    } catch (const ConfigError&) {
    }
}
RC_GTEST_PROP(validation_set, reads_or_refuses_any_bytes, (const std::string& table)) {
    try {
        read(table);
    } catch (const ConfigError&) {
    }
}

}  // namespace
}  // namespace weft
