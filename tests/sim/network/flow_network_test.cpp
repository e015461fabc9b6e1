#include "sim/network/flow_network.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <map>

#include "sim/base/check.hpp"
#include "sim/network/link_patterns.hpp"
#include "tests/sim/network/arbitrary.hpp"
#include "tests/sim/network/carried.hpp"
#include "tests/sim/network/toy.hpp"

namespace weft {
namespace {

using testing::ElementsAre;
using toy::path;

Instant at(double seconds) { return Instant{} + Seconds{seconds}; }

// The flows that finish next, after moving there.
template <class Network>
std::vector<FlowId> step(Network& network) {
    std::vector<FlowId> done;
    network.advance(network.next_change(), done);
    return done;
}

TEST(flow_network, a_flow_alone_takes_its_bytes_over_the_smallest_bandwidth) {
    FlowNetwork network(toy::fabric({50, 10}), toy::table({path({0, 1})}));
    EXPECT_EQ(network.next_change(), Instant::never());
    const FlowId flow = network.start({}, PatternId{0}, {25});
    EXPECT_EQ(network.rate(flow), BytesPerSecond{10});
    EXPECT_EQ(network.next_change(), at(2.5));
    EXPECT_THAT(step(network), ElementsAre(flow));
    EXPECT_EQ(network.next_change(), Instant::never());
}

TEST(flow_network, the_longer_of_two_flows_speeds_up_when_the_shorter_is_done) {
    // 10 B/s shared: both at 5 until the first has moved its 10 bytes, at 2 s; the second has 10 of 20 left: 1 s more.
    FlowNetwork network(toy::fabric({10}), toy::table({path({0}), path({0})}));
    const FlowId small = network.start({}, PatternId{0}, {10});
    const FlowId large = network.start({}, PatternId{1}, {20});
    EXPECT_EQ(network.next_change(), at(2));
    EXPECT_THAT(step(network), ElementsAre(small));
    EXPECT_EQ(network.next_change(), at(3));
    EXPECT_THAT(step(network), ElementsAre(large));
}

TEST(flow_network, a_flow_that_joins_later_slows_down_the_one_under_way) {
    // Alone for 1 s: 10 of 30 bytes. Then 5 B/s each: 10 bytes of the newcomer take 2 s. The last 10 take 1 s.
    FlowNetwork network(toy::fabric({10}), toy::table({path({0})}));
    std::vector<FlowId> done;
    const FlowId first = network.start({}, PatternId{0}, {30});
    network.advance(at(1), done);
    const FlowId second = network.start(at(1), PatternId{0}, {10});
    EXPECT_EQ(network.next_change(), at(3));
    EXPECT_THAT(step(network), ElementsAre(second));
    EXPECT_EQ(network.next_change(), at(4));
    EXPECT_THAT(step(network), ElementsAre(first));
}

TEST(flow_network, flows_that_finish_together_are_told_in_the_order_of_their_ids) {
    FlowNetwork network(toy::fabric({12}), toy::table({path({0}), path({0})}));
    for (std::uint32_t i = 0; i < 6; ++i) network.start({}, PatternId{1 - i % 2}, {4});
    EXPECT_THAT(step(network), ElementsAre(FlowId{0}, FlowId{1}, FlowId{2}, FlowId{3}, FlowId{4}, FlowId{5}));
}

TEST(flow_network, ids_of_finished_flows_are_used_again) {
    FlowNetwork network(toy::fabric({10}), toy::table({path({0})}));
    for (int round = 0; round < 5; ++round) {
        EXPECT_EQ(network.start(at(round), PatternId{0}, {10}), FlowId{0});
        step(network);
    }
}

TEST(flow_network, a_flow_that_takes_over_at_the_same_instant_needs_no_solve) {
    FlowNetwork network(toy::fabric({10}), toy::table({path({0}), path({0})}));
    network.start({}, PatternId{1}, {100});
    for (int round = 0; round < 8; ++round) {
        network.start(at(round), PatternId{0}, {5});
        EXPECT_EQ(network.next_change(), at(round + 1));
        step(network);
    }
    EXPECT_EQ(network.solves(), 1U);
}

TEST(flow_network, starts_of_one_instant_share_a_solve) {
    FlowNetwork network(toy::fabric({10, 20}), toy::table({path({0}), path({0, 1}), path({1})}));
    for (std::uint32_t p = 0; p < 3; ++p) network.start({}, PatternId{p}, {10});
    network.next_change();
    EXPECT_EQ(network.solves(), 1U);
}

TEST(flow_network, a_link_carries_the_bytes_of_its_flows_times_their_loads) {
    const Pattern uneven{{{LinkId{0}, 1.0}, {LinkId{1}, 2.5}}};
    FlowNetwork network(toy::fabric({10, 10, 10}), toy::table({uneven, path({1})}));
    network.start({}, PatternId{0}, {8});
    network.start({}, PatternId{1}, {3});
    while (network.next_change() != Instant::never()) step(network);
    EXPECT_DOUBLE_EQ(carried(network, LinkId{0}).value, 8);
    EXPECT_DOUBLE_EQ(carried(network, LinkId{1}).value, 8 * 2.5 + 3);
    EXPECT_EQ(carried(network, LinkId{2}).value, 0);
    EXPECT_DOUBLE_EQ(delivered(network, 2).value, 11);
}

TEST(flow_network, time_cannot_run_backwards_or_past_a_change) {
    FlowNetwork network(toy::fabric({10}), toy::table({path({0})}));
    std::vector<FlowId> done;
    network.start(at(1), PatternId{0}, {10});
    EXPECT_THROW(network.start(at(0.5), PatternId{0}, {10}), LogicError);
    EXPECT_THROW(network.advance(at(0.5), done), LogicError);
    EXPECT_THROW(network.advance(at(2.5), done), LogicError);
    EXPECT_THROW(network.start(at(2.5), PatternId{0}, {10}), LogicError);
}

TEST(flow_network, a_flow_of_nothing_or_of_no_number_is_refused) {
    FlowNetwork network(toy::fabric({10}), toy::table({path({0})}));
    for (const double bytes : {0.0, -1.0, toy::infinity, std::nan("")}) {
        EXPECT_THROW(network.start({}, PatternId{0}, {bytes}), LogicError);
    }
}

TEST(flow_network, a_flow_that_outlasts_the_clock_is_refused) {
    FlowNetwork network(toy::fabric({1}), toy::table({path({0})}));
    network.start({}, PatternId{0}, {1e5});
    EXPECT_THROW(network.next_change(), RangeError);
}

TEST(flow_network, a_flow_shorter_than_a_tick_ends_at_once_and_is_delivered) {
    FlowNetwork network(toy::fabric({1e17}), toy::table({path({0})}));
    network.start({}, PatternId{0}, {1});
    EXPECT_EQ(network.next_change(), Instant{});
    EXPECT_EQ(step(network).size(), 1U);
    EXPECT_DOUBLE_EQ(delivered(network, 1).value, 1);
}

// The same model without arrears, indices or components: all rates from the naive solver at every change, all progress
// brought up to date at every change.

// start[i], bytes[i], pattern[i] of each flow, by start; returns when each ends.
std::vector<double> naive_ends(const toy::System& system, const std::vector<double>& start,
                               const std::vector<double>& bytes, const std::vector<std::size_t>& pattern) {
    std::vector<double> ends(start.size(), 0.0);
    std::map<std::size_t, double> remaining;
    double now = 0.0;
    for (std::size_t entered = 0; entered < start.size() || !remaining.empty();) {
        std::vector<Pattern> active;
        for (const auto& [flow, left] : remaining) active.push_back(system.patterns[pattern[flow]]);
        const std::vector<double> rate = toy::naive_max_min(system.bandwidths, active);
        double until = entered < start.size() ? start[entered] : toy::infinity;
        std::size_t i = 0;
        for (const auto& [flow, left] : remaining) until = std::min(until, now + left / rate[i++]);
        i = 0;
        for (auto& [flow, left] : remaining) left -= rate[i++] * (until - now);
        now = until;
        std::erase_if(remaining, [&](const auto& entry) {
            const bool over = entry.second <= 1e-10 * bytes[entry.first];
            if (over) ends[entry.first] = now;
            return over;
        });
        for (; entered < start.size() && start[entered] <= now; ++entered) remaining[entered] = bytes[entered];
    }
    return ends;
}

RC_GTEST_PROP(flow_network, flows_end_when_a_simulation_without_shortcuts_says, ()) {
    const toy::System system = toy::arbitrary_system(6, 6);
    const auto flows = *rc::gen::inRange<std::size_t>(1, 12);
    std::vector<double> start, bytes;
    std::vector<std::size_t> pattern;
    double now = 0.0;
    for (std::size_t i = 0; i < flows; ++i) {
        now += *rc::gen::inRange(0, 3) * 0.25;
        start.push_back(now);
        bytes.push_back(*rc::gen::inRange(1, 20));
        pattern.push_back(*rc::gen::inRange<std::size_t>(0, system.patterns.size()));
    }
    FlowNetwork network(toy::fabric(system.bandwidths), toy::table(system.patterns));
    std::vector<double> ends(flows, 0.0);
    std::map<FlowId, std::size_t> number;
    std::vector<FlowId> done;
    for (std::size_t entered = 0; entered < flows || network.next_change() != Instant::never();) {
        const Instant start_next = entered < flows ? at(start[entered]) : Instant::never();
        const Instant until = std::min(start_next, network.next_change());
        done.clear();
        network.advance(until, done);
        for (const FlowId id : done) ends[number[id]] = since_start(until).value;
        for (; entered < flows && at(start[entered]) == until; ++entered) {
            number[network.start(until, PatternId{static_cast<std::uint32_t>(pattern[entered])}, {bytes[entered]})] =
                entered;
        }
    }
    const std::vector<double> expected = naive_ends(system, start, bytes, pattern);
    double asked = 0.0;
    for (std::size_t i = 0; i < flows; ++i) {
        RC_ASSERT(std::abs(ends[i] - expected[i]) <= 1e-9 * expected[i]);
        asked += bytes[i];
    }
    RC_ASSERT(std::abs(delivered(network, system.patterns.size()).value - asked) <= 1e-9 * asked);
}

// On an idle fabric nothing is shared, so both models state the same formula. Loads are 1: with others, Pattern::alone
// says what one member reaches.
RC_GTEST_PROP(flow_network, a_flow_alone_is_exactly_ideal, ()) {
    toy::System system = toy::arbitrary_system(8, 5);
    for (Pattern& pattern : system.patterns) {
        for (LinkLoad& l : pattern.loads) l.load = 1.0;
    }
    const Topology topology = toy::fabric(system.bandwidths);
    const auto patterns = toy::table(system.patterns);
    FlowNetwork flow(topology, patterns);
    IdealNetwork ideal(topology, patterns);
    Instant now;
    for (PatternId p{}; p != patterns.end_id(); p = next(p)) {
        const Bytes bytes{*rc::gen::inRange(1, 3000) / 7.0};
        flow.start(now, p, bytes);
        ideal.start(now, p, bytes);
        RC_ASSERT(flow.next_change() == ideal.next_change());
        now = flow.next_change();
        step(flow);
        step(ideal);
        RC_ASSERT(flow.moved(p) == ideal.moved(p));
    }
    for (LinkId l{}; index(l) < topology.links(); l = next(l)) RC_ASSERT(carried(flow, l) == carried(ideal, l));
}

// Sharing can only cost time.
RC_GTEST_PROP(flow_network, no_flow_ends_before_it_would_alone, ()) {
    toy::System system = toy::arbitrary_system(8, 8);
    for (Pattern& pattern : system.patterns) {
        for (LinkLoad& l : pattern.loads) l.load = std::max(l.load, 1.0);
    }
    const Topology topology = toy::fabric(system.bandwidths);
    const auto patterns = toy::table(system.patterns);
    FlowNetwork flow(topology, patterns);
    const IdealNetwork ideal(topology, patterns);
    for (PatternId p{}; p != patterns.end_id(); p = next(p)) flow.start({}, p, {100});
    while (flow.next_change() != Instant::never()) {
        const Instant now = flow.next_change();
        for (const FlowId id : step(flow)) {
            RC_ASSERT(now >= Instant{} + Bytes{100} / ideal.rate(PatternId{static_cast<std::uint32_t>(id)}));
        }
    }
}

}  // namespace
}  // namespace weft
