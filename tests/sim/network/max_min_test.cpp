#include "sim/network/max_min.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "sim/base/check.hpp"
#include "tests/sim/network/arbitrary.hpp"
#include "tests/sim/network/toy.hpp"

namespace weft {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;
using toy::path;

MaxMin solver(const std::vector<double>& bandwidths, const std::vector<Pattern>& patterns) {
    const Topology topology = toy::fabric(bandwidths);
    const Table<PatternId, Pattern> table = toy::table(patterns);
    const LinkPatterns crossed(topology, table);
    return MaxMin(drop_implied(find_constraints(topology, crossed), table.size()), table);
}

std::vector<double> rates(const MaxMin& solver, std::size_t patterns) {
    std::vector<double> result;
    for (std::uint32_t p = 0; p < patterns; ++p) result.push_back(solver.rate(PatternId{p}).value);
    return result;
}

// flows[p] flows on pattern p; one on each by default.
std::vector<double> solve(const std::vector<double>& bandwidths, const std::vector<Pattern>& patterns,
                          std::vector<std::uint32_t> flows = {}) {
    flows.resize(patterns.size(), 1);
    MaxMin max_min = solver(bandwidths, patterns);
    for (std::uint32_t p = 0; p < patterns.size(); ++p) max_min.set_flows(PatternId{p}, flows[p]);
    max_min.solve();
    return rates(max_min, patterns.size());
}

TEST(max_min, one_flow_gets_the_smallest_bandwidth_on_its_way) {
    // x <= 30, x <= 10, x <= 20.  The second link is the bottleneck.
    EXPECT_THAT(solve({30, 10, 20}, {path({0, 1, 2})}), ElementsAre(10));
}

TEST(max_min, a_long_flow_shares_each_link_and_the_short_ones_take_the_rest) {
    // x0 + x1 <= 10;  x0 + x2 <= 20.
    // The first link fills at 5 and holds x0 and x1; x2 goes on to what x0 leaves of the second: 15.
    EXPECT_THAT(solve({10, 20}, {path({0, 1}), path({0}), path({1})}), ElementsAre(5, 5, 15));
}

TEST(max_min, room_is_kept_as_long_as_nothing_can_be_used_up) {
    // Alone, each pattern gets at most the 4 of its own link; the first link has room for two of them.
    MaxMin max_min = solver({10, 4, 4, 4}, {path({0, 1}), path({0, 2}), path({0, 3})});
    const PatternId first{0}, second{1}, third{2};
    ASSERT_TRUE(max_min.reserve(first));
    EXPECT_EQ(max_min.lone_rate(first).value, 4);
    EXPECT_FALSE(max_min.reserve(first)) << "for one flow at a time";
    max_min.set_flows(second, 1);
    EXPECT_FALSE(max_min.reserve(third));
    std::vector<PatternId> crowded_out;
    max_min.take_crowded_out(crowded_out);
    EXPECT_TRUE(crowded_out.empty());
    max_min.set_flows(third, 1);
    max_min.take_crowded_out(crowded_out);
    EXPECT_THAT(crowded_out, ElementsAre(first));
    max_min.set_flows(first, 1);
    max_min.solve();
    EXPECT_NEAR(max_min.rate(first).value, 10.0 / 3, 1e-12);
    max_min.set_flows(second, 0);
    max_min.set_flows(first, 0);
    EXPECT_TRUE(max_min.reserve(first));
    max_min.release(first);
}

TEST(max_min, a_flow_on_a_pattern_takes_the_room_of_the_pattern_itself) {
    Pattern capped = path({0});
    capped.cap = {1};
    MaxMin max_min = solver({10}, {capped});
    ASSERT_TRUE(max_min.reserve(PatternId{0}));
    max_min.set_flows(PatternId{0}, 1);
    std::vector<PatternId> crowded_out;
    max_min.take_crowded_out(crowded_out);
    EXPECT_THAT(crowded_out, ElementsAre(PatternId{0}));
}

TEST(max_min, a_chain_of_bottlenecks_releases_the_flows_one_after_another) {
    // x0 <= 3 with x1;  x1 + x2 <= 10;  x2 + x3 <= 40:
    // x0 + x1 <= 3 fills first, at 1.5.  Then x2 = 10 - 1.5 = 8.5, then x3 = 40 - 8.5 = 31.5.
    EXPECT_THAT(solve({3, 10, 40}, {path({0}), path({0, 1}), path({1, 2}), path({2})}),
                ElementsAre(1.5, 1.5, 8.5, 31.5));
}

TEST(max_min, a_load_counts_as_that_many_copies) {
    // 2 x0 + x1 <= 12.  Both rise to 4: fairness is between flows, not between copies.
    EXPECT_THAT(solve({12}, {{{{LinkId{0}, 2.0}}}, path({0})}), ElementsAre(4, 4));
}

TEST(max_min, a_load_below_one_lets_the_flow_exceed_the_link) {
    // 0.25 x0 <= 10.  A ring whose hop carries a quarter of the bytes moves four times as fast.
    EXPECT_THAT(solve({10}, {{{{LinkId{0}, 0.25}}}}), ElementsAre(40));
}

TEST(max_min, a_capped_flow_leaves_the_rest_to_the_others) {
    // x0 + x1 + x2 <= 30, x0 <= 4.  x0 stops at 4, the others share 26.
    EXPECT_THAT(solve({30}, {path({0}, 4), path({0}), path({0})}), ElementsAre(4, 13, 13));
}

TEST(max_min, a_cap_above_the_fair_share_changes_nothing) {
    EXPECT_THAT(solve({30}, {path({0}, 16), path({0})}), ElementsAre(15, 15));
}

TEST(max_min, a_flow_without_links_runs_at_its_cap) { EXPECT_THAT(solve({1}, {path({}, 7)}), ElementsAre(7)); }

TEST(max_min, several_flows_on_one_pattern_count_one_by_one) {
    // 3 x0 + x1 <= 20.  Four equal flows.
    EXPECT_THAT(solve({20}, {path({0}), path({0})}, {3, 1}), ElementsAre(5, 5));
}

TEST(max_min, separate_components_do_not_see_each_other) {
    // x0 + x1 <= 10;  x2 <= 9, with its own link.
    EXPECT_THAT(solve({10, 9}, {path({0}), path({0}), path({1})}), ElementsAre(5, 5, 9));
}

TEST(max_min, a_pattern_without_flows_has_no_rate_and_takes_no_share) {
    EXPECT_THAT(solve({10}, {path({0}), path({0})}, {0, 1}), ElementsAre(0, 10));
}

TEST(max_min, a_flow_that_nothing_limits_is_refused) {
    MaxMin max_min = solver({10}, {path({})});
    max_min.set_flows(PatternId{0}, 1);
    EXPECT_THROW(max_min.solve(), LogicError);
}

TEST(max_min, only_rates_that_change_are_told) {
    // Patterns 0 and 1 share link 0; 2 and 3 share link 1.
    MaxMin max_min = solver({10, 20}, {path({0}), path({0}), path({1}), path({1})});
    for (std::uint32_t p = 0; p < 4; ++p) max_min.set_flows(PatternId{p}, 1);
    EXPECT_EQ(max_min.solve().size(), 4U);
    EXPECT_TRUE(max_min.solve().empty());
    max_min.set_flows(PatternId{2}, 0);
    EXPECT_THAT(max_min.solve(), ElementsAre(PatternId{3}));
    EXPECT_THAT(rates(max_min, 4), ElementsAre(5, 5, 0, 20));
}

// A chain of links, each with a flow of its own and one that goes on over the next link. Water is highest at the right
// end, so a change there reaches no one else; one at the left end reaches all.
TEST(max_min, what_stops_below_a_change_is_left_alone) {
    constexpr std::uint32_t links = 6;
    std::vector<double> bandwidths;
    std::vector<Pattern> patterns;
    for (std::uint32_t l = 0; l < links; ++l) {
        bandwidths.push_back(10.0 * (l + 1));
        patterns.push_back(path({l}));
        if (l + 1 < links) patterns.push_back(path({l, l + 1}));
    }
    MaxMin max_min = solver(bandwidths, patterns);
    for (std::uint32_t p = 0; p < patterns.size(); ++p) max_min.set_flows(PatternId{p}, 1);
    EXPECT_EQ(max_min.solve().size(), patterns.size());
    const auto last = PatternId{static_cast<std::uint32_t>(patterns.size() - 1)};
    max_min.set_flows(last, 2);
    EXPECT_THAT(max_min.solve(), ElementsAre(last));
    max_min.set_flows(PatternId{0}, 0);
    EXPECT_EQ(max_min.solve().size(), patterns.size() - 1);
}

TEST(max_min, a_leaving_flow_can_split_a_component_in_two) {
    // x0 + x1 <= 10;  x1 + x2 <= 30.  Without x1 each has its link alone.
    MaxMin max_min = solver({10, 30}, {path({0}), path({0, 1}), path({1})});
    for (std::uint32_t p = 0; p < 3; ++p) max_min.set_flows(PatternId{p}, 1);
    max_min.solve();
    EXPECT_THAT(rates(max_min, 3), ElementsAre(5, 5, 25));
    max_min.set_flows(PatternId{1}, 0);
    EXPECT_THAT(max_min.solve(), ElementsAre(PatternId{0}, PatternId{2}));
    EXPECT_THAT(rates(max_min, 3), ElementsAre(10, 0, 30));
}

// Sums round: 0.1 + 0.2 + 0.3 differs from 0.3 + 0.2 + 0.1 in the last bit. Whoever came first must not matter.
// x0 + x1 + x2 <= 12, each <= 6: 4 each. Without two of them the third cannot fill the link any more, nor could any
// two.
TEST(max_min, flows_that_leave_at_once_free_the_one_that_stays) {
    MaxMin max_min = solver({12, 6, 6, 6}, {path({0, 1}), path({0, 2}), path({0, 3})});
    for (const std::uint32_t p : {0U, 1U, 2U}) max_min.set_flows(PatternId{p}, 1);
    max_min.solve();
    EXPECT_THAT(rates(max_min, 3), ElementsAre(4, 4, 4));
    for (const std::uint32_t p : {0U, 1U}) max_min.set_flows(PatternId{p}, 0);
    max_min.solve();
    EXPECT_THAT(rates(max_min, 3), ElementsAre(0, 0, 6));
}

TEST(max_min, a_link_that_its_flows_cannot_fill_connects_nobody) {
    MaxMin max_min = solver({25, 10, 10, 10}, {path({0, 1}), path({0, 2}), path({0, 3})});
    for (const std::uint32_t p : {0U, 1U}) max_min.set_flows(PatternId{p}, 1);
    max_min.solve();
    max_min.set_flows(PatternId{0}, 2);
    EXPECT_THAT(max_min.solve(), ElementsAre(PatternId{0}));
    max_min.set_flows(PatternId{2}, 1);  // three can: 25 / 4 flows; the two on one pattern have 10 / 2 between them
    EXPECT_THAT(max_min.solve(), UnorderedElementsAre(PatternId{1}, PatternId{2}));
    EXPECT_THAT(rates(max_min, 3), ElementsAre(5, 7.5, 7.5));
}

TEST(max_min, more_patterns_than_can_be_counted_share_a_link) {
    // 200 times x <= 50 on a link of its own, and together <= 100: 0.5 each. Of two that stay, each has 50.
    constexpr std::uint32_t many = 200;
    std::vector<double> bandwidths(many, 50.0);
    bandwidths.push_back(100.0);
    std::vector<Pattern> patterns;
    for (std::uint32_t p = 0; p < many; ++p) patterns.push_back(path({p, many}));
    MaxMin max_min = solver(bandwidths, patterns);
    for (std::uint32_t p = 0; p < many; ++p) max_min.set_flows(PatternId{p}, 1);
    max_min.solve();
    for (const double rate : rates(max_min, many)) EXPECT_NEAR(rate, 0.5, 1e-12);
    for (std::uint32_t p = 2; p < many; ++p) max_min.set_flows(PatternId{p}, 0);
    max_min.solve();
    EXPECT_EQ(max_min.rate(PatternId{0}).value, 50.0);
    EXPECT_EQ(max_min.rate(PatternId{1}).value, 50.0);
}

TEST(max_min, the_order_in_which_flows_start_leaves_no_trace) {
    const std::vector<double> loads{0.1, 0.2, 0.3};
    ASSERT_NE(loads[0] + loads[1] + loads[2], loads[2] + loads[1] + loads[0]);
    // sum of loads[p] x_p <= 1 alone; and with x0 + x1 + x2 <= 0.9 besides, which stops them at 0.3 and leaves the
    // remainder of the first link to x3.
    for (const double second : {1e9, 0.9}) {
        std::vector<Pattern> patterns;
        for (const double load : loads) patterns.push_back({{{LinkId{0}, load}, {LinkId{1}, 1.0}}});
        patterns.push_back(path({0}));
        MaxMin forward = solver({1, second}, patterns), backward = solver({1, second}, patterns);
        for (std::uint32_t p = 0; p < 4; ++p) {
            forward.set_flows(PatternId{p}, 1), forward.solve();
            backward.set_flows(PatternId{3 - p}, 1), backward.solve();
        }
        EXPECT_EQ(rates(forward, 4), rates(backward, 4));
    }
}

// Every flow crosses `hops` neighbouring links of a circle; nothing tells them apart.
TEST(max_min, flows_that_symmetry_makes_equal_have_equal_bits) {
    constexpr std::uint32_t links = 41;
    for (const double bandwidth : {100.0, 12.1, 46e9 * 0.93}) {
        for (std::uint32_t hops = 2; hops < 20; ++hops) {
            std::vector<Pattern> patterns;
            for (std::uint32_t p = 0; p < links; ++p) {
                std::vector<std::uint32_t> way;
                for (std::uint32_t h = 0; h < hops; ++h) way.push_back((p + h) % links);
                std::sort(way.begin(), way.end());
                patterns.push_back(path(way));
            }
            for (const double rate : solve(std::vector<double>(links, bandwidth), patterns)) {
                EXPECT_EQ(rate, bandwidth / hops);
            }
        }
    }
}

// Certificate of max-min fairness (Bertsekas & Gallager): an allocation within all bandwidths is max-min fair exactly
// if every flow is at its cap or crosses a full link on which no flow is faster.
RC_GTEST_PROP(max_min, every_flow_is_capped_or_fastest_on_a_full_link, ()) {
    const toy::System system = toy::arbitrary_system(8, 12);
    const auto& bandwidths = system.bandwidths;
    const auto& patterns = system.patterns;
    const std::vector<double> x = solve(bandwidths, patterns);
    std::vector<double> used(bandwidths.size(), 0.0), fastest(bandwidths.size(), 0.0);
    for (std::size_t p = 0; p < patterns.size(); ++p) {
        RC_ASSERT(x[p] > 0.0);
        for (const LinkLoad& l : patterns[p].loads) {
            used[index(l.link)] += l.load * x[p];
            fastest[index(l.link)] = std::max(fastest[index(l.link)], x[p]);
        }
    }
    for (std::size_t l = 0; l < bandwidths.size(); ++l) RC_ASSERT(used[l] <= bandwidths[l] * (1.0 + 1e-9));
    for (std::size_t p = 0; p < patterns.size(); ++p) {
        RC_ASSERT(x[p] <= patterns[p].cap.value);
        const bool stopped = std::ranges::any_of(patterns[p].loads, [&](const LinkLoad& l) {
            return used[index(l.link)] >= bandwidths[index(l.link)] * (1.0 - 1e-9) &&
                   x[p] >= fastest[index(l.link)] * (1.0 - 1e-9);
        });
        RC_ASSERT(stopped || x[p] >= patterns[p].cap.value * (1.0 - 1e-9));
    }
}

RC_GTEST_PROP(max_min, agrees_with_water_that_rises_link_by_link, ()) {
    const auto [bandwidths, patterns] = toy::arbitrary_system(10, 20);
    const std::vector<double> found = solve(bandwidths, patterns);
    const std::vector<double> expected = toy::naive_max_min(bandwidths, patterns);
    for (std::size_t p = 0; p < patterns.size(); ++p) {
        RC_ASSERT(std::abs(found[p] - expected[p]) <= 1e-9 * expected[p]);
    }
}

// Bit for bit: n flows on a pattern use what n flows use, and no order of adding leaves a trace.
RC_GTEST_PROP(max_min, flows_on_one_pattern_are_like_flows_on_equal_patterns, ()) {
    const auto [bandwidths, patterns] = toy::arbitrary_system(6, 6);
    std::vector<std::uint32_t> flows;
    std::vector<Pattern> one_by_one;
    std::vector<std::size_t> origin;
    for (std::size_t p = 0; p < patterns.size(); ++p) {
        flows.push_back(*rc::gen::inRange<std::uint32_t>(1, 4));
        one_by_one.insert(one_by_one.end(), flows[p], patterns[p]);
        origin.insert(origin.end(), flows[p], p);
    }
    const std::vector<double> found = solve(bandwidths, patterns, flows);
    const std::vector<double> expected = solve(bandwidths, one_by_one);
    for (std::size_t i = 0; i < origin.size(); ++i) RC_ASSERT(found[origin[i]] == expected[i]);
}

// Flows come and go at random. Solving what changed must leave the very bits that solving everything afresh gives.
RC_GTEST_PROP(max_min, solving_what_changed_equals_solving_everything, ()) {
    const auto most = *rc::gen::element<std::uint32_t>(3, 12, 60);
    const auto [bandwidths, patterns] = toy::arbitrary_system(std::min(most, 12U), most);
    MaxMin kept = solver(bandwidths, patterns);
    std::vector<std::uint32_t> flows(patterns.size(), 0);
    const auto rounds = *rc::gen::inRange(1, 12);
    for (int round = 0; round < rounds; ++round) {
        const auto changes = *rc::gen::inRange(1, 4);
        for (int change = 0; change < changes; ++change) {
            const auto p = *rc::gen::inRange<std::uint32_t>(0, static_cast<std::uint32_t>(patterns.size()));
            flows[p] = *rc::gen::inRange<std::uint32_t>(0, 3);
            kept.set_flows(PatternId{p}, flows[p]);
        }
        kept.solve();
        RC_ASSERT(rates(kept, patterns.size()) == solve(bandwidths, patterns, flows));
    }
}

}  // namespace
}  // namespace weft
