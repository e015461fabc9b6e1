#include "sim/base/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace weft {
namespace {

template <class Table, class Id>
concept indexable = requires(Table table, Id id) {
    table[id];
};

// An id cannot index the wrong table, and neither can a number.
static_assert(indexable<Table<NodeId, int>, NodeId>);
static_assert(!indexable<Table<NodeId, int>, LinkId> && !indexable<Table<NodeId, int>, int>);

TEST(table, rows_are_found_by_the_id_that_adding_them_returned) {
    Table<LinkId, std::string> table;
    const LinkId first = table.push_back("a");
    const LinkId second = table.push_back("b");
    EXPECT_EQ(table[first], "a");
    EXPECT_EQ(table[second], "b");
    EXPECT_EQ(second, next(first));
    EXPECT_EQ(index(second), 1U);
    EXPECT_EQ(table.end_id(), next(second));
    EXPECT_THAT(std::vector(table.begin(), table.end()), ::testing::ElementsAre("a", "b"));
}

TEST(table, a_sized_table_is_filled_with_the_value_given) {
    const Table<RankId, int> table(3, 7);
    EXPECT_THAT(table.rows(), ::testing::ElementsAre(7, 7, 7));
}

TEST(table, rows_are_repeated_as_often_as_asked) {
    const std::vector<int> period{7, 8};
    Table<RankId, int> table(1, 6);
    table.repeat(period, 0);
    EXPECT_EQ(table.size(), 1U);
    table.repeat(period, 2);
    EXPECT_THAT(table.rows(), ::testing::ElementsAre(6, 7, 8, 7, 8));
    Table<LinkClassId, int> small;
    EXPECT_THROW(small.repeat(period, 200), LogicError);
    EXPECT_THROW(small.repeat(period, std::numeric_limits<std::uint32_t>::max()), LogicError) << "wrapped";
    EXPECT_TRUE(small.empty());
}

TEST(table, more_rows_than_an_id_can_name_are_refused_not_wrapped) {
    Table<LinkClassId, int> table;
    for (int row = 0; row < 256; ++row) table.push_back(row);
    EXPECT_THROW(table.push_back(256), LogicError);
}

}  // namespace
}  // namespace weft
