#include "sim/explicit/route_network.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/network/flow_network.hpp"
#include "sim/network/link_patterns.hpp"
#include "tests/sim/network/toy.hpp"

namespace weft {
namespace {

Route route_of(const std::vector<std::uint32_t>& links) {
    Route route;
    for (const std::uint32_t link : links) route.push_back(LinkId(link));
    return route;
}

// Flow a on links of 10 and 15 GB/s, from 0.5 s also b on the latter: each has 7.5 GB/s until the last 5 GB of a are
// through, then b has 15.
TEST(route_network, shares_links_and_gives_back_what_flows_leave) {
    const Topology topology = toy::fabric({10e9, 15e9});
    RouteNetwork network(topology);
    std::vector<FlowId> done;
    const FlowId a = network.start({}, route_of({0, 1}), 1.0, 10_GB);
    EXPECT_EQ(network.rate(a), 10_GBps);
    const Instant half = Instant{} + 0.5_s;
    const FlowId b = network.start(half, route_of({1}), 1.0, 10_GB);
    EXPECT_EQ(network.rate(a), 7.5_GBps);
    EXPECT_EQ(network.rate(b), 7.5_GBps);
    const double first = 0.5 + 5.0 / 7.5;
    EXPECT_NEAR(since_start(network.next_change()).value, first, 1e-14);
    network.advance(network.next_change(), done);
    EXPECT_EQ(done, std::vector{a});
    EXPECT_EQ(network.rate(b), 15_GBps);
    EXPECT_NEAR(since_start(network.next_change()).value, first + 5.0 / 15.0, 1e-14);
    network.advance(network.next_change(), done);
    EXPECT_EQ(done, (std::vector{a, b}));
    EXPECT_EQ(network.next_change(), Instant::never());
    EXPECT_NEAR(network.delivered().value, 20e9, 1.0);
}

// Each at the pace of its links until a third joins the second on one of them.
TEST(route_network, flows_that_meet_nobody_need_no_solve) {
    const Topology topology = toy::fabric({10e9, 15e9, 20e9});
    RouteNetwork network(topology);
    std::vector<FlowId> done;
    const FlowId first = network.start({}, route_of({0}), 1.0, 10_GB);
    const FlowId second = network.start({}, route_of({1, 2}), 1.0, 30_GB);
    EXPECT_EQ(network.rate(first), 10_GBps);
    EXPECT_EQ(network.rate(second), 15_GBps);
    network.advance(network.next_change(), done);
    EXPECT_EQ(done, std::vector{first});
    EXPECT_EQ(network.next_change(), Instant{} + 2_s);
    EXPECT_EQ(network.solves(), 0U);
    const FlowId third = network.start(Instant{} + 1_s, route_of({2}), 1.0, 10_GB);
    EXPECT_EQ(network.rate(second), 10_GBps);
    EXPECT_EQ(network.rate(third), 10_GBps);
    EXPECT_EQ(network.solves(), 1U);
}

// A chain of links of 10, 20, 30: 0 | 0 1 | 1 2 | 2. When the first ends, each of the others is touched in turn: 0 1
// rises from 5 to 10, 1 2 falls from 15 to 10, and 2 rises from 15 to 20.
TEST(route_network, a_change_travels_as_far_as_rates_change) {
    const Topology topology = toy::fabric({10e9, 20e9, 30e9});
    RouteNetwork network(topology);
    std::vector<FlowId> flows;
    flows.push_back(network.start({}, route_of({0}), 1.0, 1_GB));
    flows.push_back(network.start({}, route_of({0, 1}), 1.0, 100_GB));
    flows.push_back(network.start({}, route_of({1, 2}), 1.0, 100_GB));
    flows.push_back(network.start({}, route_of({2}), 1.0, 100_GB));
    const auto rates = [&] {
        std::vector<double> all;
        for (const FlowId flow : flows) all.push_back(network.rate(flow).value / 1e9);
        return all;
    };
    EXPECT_EQ(rates(), (std::vector{5.0, 5.0, 15.0, 15.0}));
    std::vector<FlowId> done;
    network.advance(network.next_change(), done);
    ASSERT_EQ(done, std::vector{flows.front()});
    flows.erase(flows.begin());
    EXPECT_EQ(rates(), (std::vector{10.0, 10.0, 20.0}));
}

TEST(route_network, a_load_is_what_protocols_add_to_every_byte) {
    const Topology topology = toy::fabric({12e9});
    RouteNetwork network(topology);
    const FlowId lean = network.start({}, route_of({0}), 1.0, 1_GB);
    const FlowId wasteful = network.start({}, route_of({0}), 2.0, 1_GB);
    EXPECT_EQ(network.rate(lean), 4_GBps);
    EXPECT_EQ(network.rate(wasteful), 4_GBps);
}

// 12 GB/s among three, of which one takes no more than 2: 5 for each of the others, and 10 when one of them is gone.
TEST(route_network, leaves_to_others_what_a_capped_flow_does_not_take) {
    const Topology topology = toy::fabric({12e9});
    RouteNetwork network(topology);
    const FlowId capped = network.start({}, route_of({0}), 1.0, 100_GB, 2_GBps);
    const FlowId wide = network.start({}, route_of({0}), 1.0, 100_GB, 100_GBps);
    network.start({}, route_of({0}), 1.0, 1_GB);
    EXPECT_EQ(network.rate(capped), 2_GBps);
    EXPECT_EQ(network.rate(wide), 5_GBps);
    std::vector<FlowId> done;
    network.advance(network.next_change(), done);
    EXPECT_EQ(network.rate(capped), 2_GBps);
    EXPECT_EQ(network.rate(wide), 10_GBps);
}

TEST(route_network, refuses_what_makes_no_sense) {
    const Topology topology = toy::fabric({10e9});
    RouteNetwork network(topology);
    EXPECT_THROW(network.start({}, route_of({0}), 1.0, {}), LogicError);
    EXPECT_THROW(network.start({}, {}, 1.0, 1_GB), LogicError);
}

// The same flows in FlowNetwork, which knows all patterns beforehand: rates, and with them ends, have the same bits.
RC_GTEST_PROP(route_network, agrees_with_flow_network, ()) {
    const auto links = *rc::gen::inRange<std::uint32_t>(1, 13);
    std::vector<double> bandwidths;
    for (std::uint32_t i = 0; i < links; ++i) bandwidths.push_back(*rc::gen::element(10e9, 25e9, 30e9, 100e9));
    const Topology topology = toy::fabric(bandwidths);
    Table<PatternId, Pattern> patterns;
    std::vector<Route> routes;
    std::vector<MessageLoad> loads;
    std::vector<BytesPerSecond> caps;
    const auto flows = *rc::gen::inRange<std::uint32_t>(1, 41);
    for (std::uint32_t f = 0; f < flows; ++f) {
        auto route = *rc::gen::unique<std::vector<std::uint32_t>>(
            std::min(links, *rc::gen::inRange<std::uint32_t>(1, 5)), rc::gen::inRange<std::uint32_t>(0, links));
        routes.push_back(route_of(route));
        const double at_ends = *rc::gen::element(1.0, 1.0, 2.0, 1 / 0.93);
        loads.push_back({at_ends, *rc::gen::element(1.0, at_ends)});
        std::sort(route.begin(), route.end());
        caps.push_back({*rc::gen::weightedElement<double>({{4, toy::infinity}, {1, 3e9}, {1, 0.7e9}})});
        Pattern pattern = toy::path(route, caps.back().value);
        for (LinkLoad& load : pattern.loads) load.load = loads.back().on(topology.joins_switches(load.link));
        patterns.push_back(pattern);
    }
    RouteNetwork network(topology);
    FlowNetwork twin(topology, patterns);
    Instant now;
    std::uint32_t under_way = 0, started = 0;
    std::vector<std::uint32_t> name(flows), twin_name(flows);  // of ids
    std::vector<double> ends(flows), twin_ends(flows);
    const auto drain = [&](Instant until) {
        std::vector<FlowId> done;
        while (network.next_change() <= until && network.next_change() != Instant::never()) {
            const Instant at = network.next_change();
            network.advance(at, done);
            for (const FlowId id : done) ends[name[index(id)]] = since_start(at).value;
            done.clear();
        }
        while (twin.next_change() <= until && twin.next_change() != Instant::never()) {
            const Instant at = twin.next_change();
            twin.advance(at, done);
            for (const FlowId id : done) twin_ends[twin_name[index(id)]] = since_start(at).value;
            done.clear();
        }
    };
    for (; started < flows; ++started, ++under_way) {
        now = now + Seconds{*rc::gen::element(0.0, 0.0, 0.01, 0.1)};
        drain(now);
        const Bytes bytes{1e9 * *rc::gen::inRange(1, 9)};
        name[index(network.start(now, routes[started], loads[started], bytes, caps[started]))] = started;
        twin_name[index(twin.start(now, PatternId(started), bytes))] = started;
    }
    drain(Instant::never());
    for (std::uint32_t f = 0; f < flows; ++f) RC_ASSERT(ends[f] == twin_ends[f]);
    const Bytes moved = delivered(twin, patterns.size());
    RC_ASSERT(std::abs((network.delivered() - moved).value) <= 1e-6 * moved.value);
}

}  // namespace
}  // namespace weft
