#include "sim/cost/link_loads.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <vector>

namespace weft {
namespace {

using Naive = std::map<std::uint32_t, std::array<LinkLoads::Units, 3>>;

// Sorts, and checks that links come in ascending order.
Naive contents(LinkLoads& loads) {
    loads.sort();
    Naive found;
    std::vector<std::uint32_t> order;
    loads.for_each([&](LinkId link, const LinkLoads::Cell& cell) {
        order.push_back(static_cast<std::uint32_t>(link));
        found[order.back()] = cell.by_kind;
    });
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
    EXPECT_EQ(order.size(), found.size());
    EXPECT_EQ(loads.links(), found.size());
    return found;
}

void add(LinkLoads& loads, Naive& twin, std::uint32_t link, std::size_t kind, LinkLoads::Units load) {
    loads.add(LinkId{link}, static_cast<RouteKind>(kind), load);
    twin[link][kind] += load;
}

TEST(link_loads, a_cell_weighs_minimal_routes_and_detours) {
    LinkLoads loads;
    loads.add(LinkId{7}, RouteKind::only, LinkLoads::units(1.0));
    loads.add(LinkId{7}, RouteKind::minimal, LinkLoads::units(4.0));
    loads.add(LinkId{7}, RouteKind::detour, LinkLoads::units(8.0));
    loads.for_each([](LinkId, const LinkLoads::Cell& cell) {
        EXPECT_EQ(cell.at(0.0), 5.0);
        EXPECT_EQ(cell.at(0.25), 1.0 + 3.0 + 2.0);
        EXPECT_EQ(cell.at(1.0), 9.0);
        EXPECT_EQ(cell.straight(), LinkLoads::units(5.0));
        EXPECT_EQ(cell.detoured(), LinkLoads::units(9.0));
    });
}

TEST(link_loads, units_within_a_load_are_not_above_it) {
    const LinkLoads::Units one = LinkLoads::units(1.0);
    EXPECT_EQ(LinkLoads::units_within(1.0), one);
    EXPECT_EQ(LinkLoads::units_within(1.0 - 0.25 / static_cast<double>(one)), one - 1);
    EXPECT_GT(LinkLoads::units_within(std::numeric_limits<double>::infinity()), LinkLoads::units(1e6));
}

// Few pages and many, so that some are met again and tables grow.
RC_GTEST_PROP(link_loads, agree_with_a_map, ()) {
    LinkLoads loads, other;
    Naive twin, other_twin;
    const auto links = *rc::gen::element<std::uint32_t>(100, 100000);
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 100; ++i) {
            const auto link = *rc::gen::inRange<std::uint32_t>(0, links);
            const auto kind = *rc::gen::inRange<std::size_t>(0, 3);
            const auto load = *rc::gen::inRange<LinkLoads::Units>(1, 1000);
            add(i % 2 == 0 ? loads : other, i % 2 == 0 ? twin : other_twin, link, kind, load);
        }
        if (*rc::gen::arbitrary<bool>()) {
            loads.add(other);
            for (const auto& [link, cell] : other_twin) {
                for (std::size_t kind = 0; kind < 3; ++kind) twin[link][kind] += cell[kind];
            }
        }
        RC_ASSERT(contents(loads) == twin);
        RC_ASSERT(contents(other) == other_twin);
        if (*rc::gen::arbitrary<bool>()) {
            other.clear();
            other_twin.clear();
            RC_ASSERT(other.is_empty());
        }
    }
}

}  // namespace
}  // namespace weft
