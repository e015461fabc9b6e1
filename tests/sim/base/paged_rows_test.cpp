#include "sim/base/paged_rows.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <utility>

namespace weft {
namespace {

using Place = std::pair<std::size_t, std::size_t>;

// Twin: a map.
TEST(paged_rows, hold_what_was_written_in_order) {
    std::mt19937 random(1);
    const auto draw = [&](std::size_t below) { return static_cast<std::size_t>(random() % below); };
    for (int round = 0; round < 50; ++round) {
        const std::size_t rows = 1 + draw(1000), length = 1 + draw(5);
        PagedRows<int> table(rows, length);
        std::map<Place, int> twin;
        for (std::size_t i = draw(200); i > 0; --i) {
            const std::size_t row = draw(rows), place = draw(length);
            ASSERT_EQ(table[row].size(), length);
            ASSERT_EQ((table[row][place]), (twin[{row, place}]));
            table[row][place] += static_cast<int>(i);
            twin[{row, place}] += static_cast<int>(i);
        }
        std::map<Place, int> found;
        Place last;
        table.for_each([&](std::size_t row, std::size_t place, int value) {
            const Place here(row, place);
            EXPECT_TRUE(found.empty() || here > last);
            last = here;
            found.emplace(here, value);
        });
        for (const auto& [place, value] : twin) EXPECT_EQ(found.at(place), value);
        for (const auto& [place, value] : found) EXPECT_EQ(value, twin[place]);
    }
}

TEST(paged_rows, are_none_before_one_is_asked_for) {
    const PagedRows<int> table(100, 3);
    table.for_each([](std::size_t, std::size_t, int) { ADD_FAILURE(); });
}

}  // namespace
}  // namespace weft
