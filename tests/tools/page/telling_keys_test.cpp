#include "tools/page/result_data.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft {
namespace {

using testing::ElementsAre;

// Keys and a metric, from rows of whole numbers.
ResultTable table(std::size_t keys, const std::vector<std::vector<std::int64_t>>& rows) {
    ResultTable table;
    for (std::size_t i = 0; i < keys; ++i) table.columns.push_back({"key", "", "", ColumnKind::key});
    table.columns.push_back({"metric", "", ""});
    for (const auto& row : rows) table.rows.emplace_back(row.begin(), row.end());
    return table;
}

TEST(telling_keys, are_all_that_vary_on_their_own) {
    EXPECT_THAT(telling_keys(table(2, {{1, 1, 7}, {1, 2, 7}, {2, 1, 7}, {2, 2, 7}})), ElementsAre(0, 1));
}

TEST(telling_keys, leave_out_what_stays) {
    EXPECT_THAT(telling_keys(table(2, {{1, 3, 7}, {2, 3, 8}})), ElementsAre(0));
}

TEST(telling_keys, of_keys_in_step_are_the_first) {
    EXPECT_THAT(telling_keys(table(3, {{1, 16, 5, 7}, {2, 8, 5, 7}, {1, 16, 6, 7}, {2, 8, 6, 7}})), ElementsAre(0, 2));
}

// A scheme stands for the layout that it was zipped with, before it or behind it; not the other way round.
TEST(telling_keys, leave_out_what_follows_from_another_wherever_it_stands) {
    EXPECT_THAT(telling_keys(table(2, {{0, 1, 7}, {0, 2, 7}, {1, 3, 7}})), ElementsAre(1));
    EXPECT_THAT(telling_keys(table(2, {{1, 0, 7}, {2, 0, 7}, {3, 1, 7}})), ElementsAre(0));
}

TEST(telling_keys, are_all_of_a_single_row) { EXPECT_THAT(telling_keys(table(2, {{1, 2, 3}})), ElementsAre(0, 1)); }

TEST(telling_keys, of_a_table_without_rows_are_all) { EXPECT_THAT(telling_keys(table(1, {})), ElementsAre(0)); }

}  // namespace
}  // namespace weft
