#include "tools/output/result_table.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(csv, quotes_what_would_end_a_cell) {
    EXPECT_EQ(csv_cell("plain"), "plain");
    EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
    EXPECT_EQ(csv_cell("a \"b\""), "\"a \"\"b\"\"\"");
}

TEST(csv, text_that_a_spreadsheet_would_take_for_a_formula_is_marked_as_text) {
    EXPECT_EQ(csv_cell("=1+1"), "'=1+1");
    EXPECT_EQ(csv_cell("@sum(a1)"), "'@sum(a1)");
    EXPECT_EQ(csv_cell("+a1"), "'+a1");
    EXPECT_EQ(csv_cell("-a1"), "'-a1");
    EXPECT_EQ(csv_cell("=cmd|' /C calc',a"), "\"'=cmd|' /C calc',a\"");
}

TEST(csv, numbers_and_dashes_stay_as_they_are) {
    for (const char* text : {"-1", "+1", "-0.5", "-1.5e-300", "-1e400", "-", "+", "1-2", "a=b", ""}) {
        EXPECT_EQ(csv_cell(text), text);
    }
}

TEST(csv, of_results_marks_texts_and_no_numbers) {
    const ResultTable table{
        .columns = {{.name = "value", .unit = {}, .meaning = {}}, {.name = "=name", .unit = {}, .meaning = {}}},
        .rows = {{ResultCell{-0.5}, ResultCell{std::string("=2*3")}}}};
    EXPECT_EQ(result_csv(table), "value,'=name\n-0.5,'=2*3\n");
}

}  // namespace
}  // namespace weft
