#include "sim/base/repeated_table.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <vector>

namespace weft {
namespace {

using Classes = RepeatedTable<LinkId, LinkClassId>;

constexpr LinkClassId a{0}, b{1}, c{2};

template <class Id, class T>
std::vector<T> rows_of(const RepeatedTable<Id, T>& table) {
    std::vector<T> rows;
    for (Id id{}; index(id) < table.size(); id = next(id)) rows.push_back(table[id]);
    return rows;
}

TEST(repeated_table, a_period_comes_as_often_as_asked) {
    Classes table;
    table.repeat(std::array{a, b, b}, 2);
    table.repeat(std::array{c}, 2);
    EXPECT_EQ(rows_of(table), (std::vector{a, b, b, a, b, b, c, c}));
    EXPECT_EQ(table.count(a), 2U);
    EXPECT_EQ(table.count(b), 4U);
    EXPECT_EQ(table.count(LinkClassId{7}), 0U);
}

TEST(repeated_table, a_replaced_row_leaves_its_likes_alone) {
    Classes table;
    table.repeat(std::array{a, b}, 3);
    table.replace(LinkId{2}, c);
    EXPECT_EQ(rows_of(table), (std::vector{a, b, c, b, a, b}));
    table.replace(LinkId{0}, c);
    table.replace(LinkId{2}, b);
    table.replace(LinkId{5}, c);
    EXPECT_EQ(rows_of(table), (std::vector{c, b, b, b, a, c}));
    EXPECT_EQ(table.count(b), 3U);
}

TEST(repeated_table, nothing_repeated_and_no_times_over_are_no_rows) {
    Classes table;
    table.repeat({}, 5);
    table.repeat(std::array{a}, 0);
    EXPECT_EQ(table.size(), 0U);
    EXPECT_THROW(table.replace(LinkId{0}, b), LogicError);
}

TEST(repeated_table, more_rows_than_an_id_can_name_are_refused_not_wrapped) {
    Classes table;
    table.repeat(std::array{a, b}, 0x7FFF'FFFFU);
    EXPECT_THROW(table.repeat(std::array{a, b}, 1), LogicError);
    EXPECT_EQ(table[LinkId{0xFFFF'FFFD}], b);
    EXPECT_EQ(table.count(b), 0x7FFF'FFFFU);
}

RC_GTEST_PROP(repeated_table, agrees_with_a_list_of_all_rows, ()) {
    enum class Change : std::uint8_t { repeat, replace };
    Classes table;
    std::vector<LinkClassId> twin;
    const auto value = [] { return LinkClassId{*rc::gen::inRange<std::uint8_t>(0, 5)}; };
    for (auto changes = *rc::gen::inRange(0, 30); changes > 0; --changes) {
        switch (*rc::gen::element(Change::repeat, Change::replace)) {
            case Change::repeat: {
                std::vector<LinkClassId> period(*rc::gen::inRange<std::size_t>(0, 5));
                for (LinkClassId& each : period) each = value();
                const auto times = *rc::gen::inRange<std::uint32_t>(0, 5);
                table.repeat(period, times);
                for (std::uint32_t i = 0; i < times; ++i) twin.insert(twin.end(), period.begin(), period.end());
                break;
            }
            case Change::replace: {
                if (twin.empty()) break;
                const auto row = *rc::gen::inRange<std::size_t>(0, twin.size());
                twin[row] = value();
                table.replace(LinkId(static_cast<std::uint32_t>(row)), twin[row]);
                break;
            }
        }
    }
    RC_ASSERT(rows_of(table) == twin);
    for (std::uint8_t each = 0; each < 5; ++each) {
        RC_ASSERT(table.count(LinkClassId{each}) ==
                  static_cast<std::size_t>(std::ranges::count(twin, LinkClassId{each})));
    }
}

}  // namespace
}  // namespace weft
