#include "sim/network/constraints.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "sim/base/check.hpp"
#include "sim/network/max_min.hpp"
#include "tests/sim/network/arbitrary.hpp"
#include "tests/sim/network/toy.hpp"

namespace weft {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using toy::path;

std::vector<Constraint> constraints(const std::vector<double>& bandwidths, const std::vector<Pattern>& patterns) {
    const Topology topology = toy::fabric(bandwidths);
    return find_constraints(topology, LinkPatterns(topology, toy::table(patterns)));
}

std::vector<double> capacities(const std::vector<Constraint>& list) {
    std::vector<double> result;
    for (const Constraint& constraint : list) result.push_back(constraint.capacity.value);
    return result;
}

TEST(constraints, a_symmetric_ring_is_one_constraint_however_long) {
    std::vector<std::uint32_t> all(1000);
    for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    EXPECT_EQ(constraints(std::vector<double>(1000, 25.0), {path(all), path(all)}).size(), 1U);
}

TEST(constraints, one_slow_link_adds_one_constraint) {
    std::vector<double> bandwidths(100, 25.0);
    bandwidths[40] = 12.5;
    std::vector<std::uint32_t> all(100);
    for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    EXPECT_THAT(capacities(constraints(bandwidths, {path(all)})), ElementsAre(25, 12.5));
}

TEST(constraints, links_with_equal_bandwidth_but_other_loads_are_kept_apart) {
    const Pattern uneven{{{LinkId{0}, 1.0}, {LinkId{1}, 2.0}, {LinkId{2}, 1.0}}};
    EXPECT_EQ(constraints({10, 10, 10}, {uneven}).size(), 2U);
}

TEST(constraints, links_that_nothing_crosses_are_none) { EXPECT_THAT(constraints({10, 10}, {path({})}), IsEmpty()); }

TEST(constraints, a_pattern_on_an_unknown_link_is_refused) { EXPECT_THROW(constraints({10}, {path({1})}), LogicError); }

TEST(constraints, a_wider_link_on_the_same_way_is_implied) {
    // x0 <= 10 and x0 <= 50: the second never binds.
    EXPECT_THAT(capacities(drop_implied(constraints({10, 50}, {path({0, 1})}), 1)), ElementsAre(10));
}

TEST(constraints, a_link_shared_by_more_implies_the_link_of_one) {
    // x0 + x1 <= 10 implies x0 <= 10, but not x1 <= 5.
    const auto all = constraints({10, 5}, {path({0}), path({0, 1})});
    EXPECT_EQ(drop_implied(all, 2).size(), 2U);
    EXPECT_THAT(capacities(drop_implied(constraints({10, 20}, {path({0, 1}), path({0})}), 2)), ElementsAre(10));
}

TEST(constraints, of_two_that_imply_each_other_one_stays) {
    // 2 x <= 20 is x <= 10.
    const Pattern pattern{{{LinkId{0}, 1.0}, {LinkId{1}, 2.0}}};
    EXPECT_THAT(capacities(drop_implied(constraints({10, 20}, {pattern}), 1)), ElementsAre(10));
}

RC_GTEST_PROP(constraints, leaving_out_the_implied_ones_changes_no_rate, ()) {
    const auto [bandwidths, patterns] = toy::arbitrary_system(10, 10);
    const Topology topology = toy::fabric(bandwidths);
    const Table<PatternId, Pattern> table = toy::table(patterns);
    const std::vector<Constraint> all = find_constraints(topology, LinkPatterns(topology, table));
    MaxMin full(all, table), reduced(drop_implied(all, table.size()), table);
    for (PatternId p{}; p != table.end_id(); p = next(p)) full.set_flows(p, 1), reduced.set_flows(p, 1);
    full.solve();
    reduced.solve();
    for (PatternId p{}; p != table.end_id(); p = next(p)) {
        RC_ASSERT(std::abs(full.rate(p).value - reduced.rate(p).value) <= 1e-9 * full.rate(p).value);
    }
}

}  // namespace
}  // namespace weft
