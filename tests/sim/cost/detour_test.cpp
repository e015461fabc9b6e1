// Traffic where the network offers ways round, and what else a phase can ask for: shared ports, listed edges.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/cost/cost.hpp"
#include "sim/cost/phase_traffic.hpp"
#include "tests/sim/collective/members.hpp"
#include "tests/sim/collective/toy_crossbar.hpp"
#include "tests/sim/collective/two_ways.hpp"

namespace weft {
namespace {

using testing::Pair;
using testing_support::first_ranks;
using testing_support::loads_of;
using testing_support::ranks;
using testing_support::toy_crossbar;
using testing_support::two_ways;

struct Found {
    std::map<std::uint32_t, double> loads;
    BytesPerSecond alone;
    Seconds latency;
};

Found send(const Topology& topology, double efficiency = 1.0) {
    const ProtocolCost protocol{.efficiency_across = efficiency};
    PhaseTraffic traffic(topology, protocol);
    traffic.add({.peer = Peer::chain}, {{ranks({0, 1})}});
    const Pattern pattern = traffic.pattern();
    return {loads_of(pattern), pattern.alone, traffic.latency()};
}

auto about(std::uint32_t link, double load) { return Pair(link, testing::DoubleNear(load, 1e-6)); }

TEST(detours, are_left_alone_by_minimal_routing) {
    const Found found = send(two_ways(Routing::minimal, 100_GBps, 20_GBps, 2));
    EXPECT_THAT(found.loads, testing::ElementsAre(Pair(0, 1.0), Pair(1, 1.0)));
    EXPECT_EQ(found.alone, 10_GBps);
    EXPECT_NEAR(found.latency.value, 2e-6, 1e-15);
}

// A share q detoured leaves (1 - q) / 10 on the direct link and q / 20 on the detour: equal at q = 2/3, 30 GB/s.
TEST(detours, take_what_makes_the_busiest_link_least_busy) {
    const Found found = send(two_ways(Routing::adaptive, 100_GBps, 20_GBps, 1));
    EXPECT_THAT(found.loads, testing::ElementsAre(about(0, 1.0), about(1, 1.0 / 3.0), about(2, 2.0 / 3.0)));
    EXPECT_NEAR(found.alone.value, 30e9, 1e5);
    EXPECT_NEAR(found.latency.value, 2e-6, 1e-15) << "messages of an idle network go straight";
}

// With two, (1 - q) / 10 = q / 40: q = 0.8.
TEST(detours, share_what_is_detoured_equally) {
    const Found found = send(two_ways(Routing::adaptive, 100_GBps, 20_GBps, 2));
    EXPECT_THAT(found.loads, testing::ElementsAre(about(0, 1.0), about(1, 0.2), about(2, 0.4), about(3, 0.4)));
    EXPECT_NEAR(found.alone.value, 50e9, 1e5);
}

TEST(detours, are_not_taken_where_they_do_not_help) {
    const Found found = send(two_ways(Routing::adaptive, 8_GBps, 20_GBps, 2));
    EXPECT_THAT(found.loads, testing::ElementsAre(Pair(0, 1.0), Pair(1, 1.0)));
    EXPECT_EQ(found.alone, 8_GBps);
}

TEST(detours, take_everything_and_its_latency_under_valiant_routing) {
    const Found found = send(two_ways(Routing::valiant, 100_GBps, 20_GBps, 2));
    EXPECT_THAT(found.loads, testing::ElementsAre(about(0, 1.0), about(2, 0.5), about(3, 0.5)));
    EXPECT_NEAR(found.alone.value, 40e9, 1e5);
    EXPECT_NEAR(found.latency.value, 4e-6, 1e-15);
}

// Who drives half of his port holds it twice as long: 100 / 2 GB/s. Links between switches carry the bytes as they are.
TEST(detours, carry_bytes_whatever_the_protocol_reaches_at_the_port) {
    const Found found = send(two_ways(Routing::adaptive, 100_GBps, 20_GBps, 1), 0.5);
    EXPECT_THAT(found.loads, testing::ElementsAre(about(0, 2.0), about(1, 1.0 / 3.0), about(2, 2.0 / 3.0)));
    EXPECT_NEAR(found.alone.value, 30e9, 1e5);
    const Found narrow = send(two_ways(Routing::adaptive, 40_GBps, 20_GBps, 1), 0.5);
    EXPECT_NEAR(narrow.alone.value, 20e9, 1e5);
}

// Ring in LL through a switch pair: a flag beside every word, on the wire too.
TEST(detours, carry_the_flags_that_a_protocol_writes) {
    const Topology topology = two_ways(Routing::minimal, 100_GBps, 20_GBps, 1);
    for (const auto& [name, wire] : {std::pair{"LL", 2.0}, {"LL128", 128.0 / 120.0}, {"Simple", 1.0}}) {
        const ProtocolCost protocol{.protocol = name, .efficiency_across = 0.25};
        PhaseTraffic traffic(topology, protocol);
        traffic.add({.peer = Peer::chain}, {{ranks({0, 1})}});
        EXPECT_THAT(loads_of(traffic.pattern()), testing::ElementsAre(about(0, 4.0), about(1, wire))) << name;
    }
}

// Sisters choose together: three groups on the same links have one share, and each alone has its own.
TEST(detours, have_one_share_for_all_groups) {
    const Topology topology = two_ways(Routing::adaptive, 100_GBps, 20_GBps, 1);
    const ProtocolCost protocol{};
    PhaseTraffic traffic(topology, protocol);
    for (int i = 0; i < 3; ++i) traffic.add({.peer = Peer::chain}, {{ranks({0, 1})}});
    EXPECT_THAT(loads_of(traffic.pattern()), testing::ElementsAre(about(0, 3.0), about(1, 1.0), about(2, 2.0)));
    EXPECT_NEAR(traffic.pattern().alone.value, 30e9, 1e5);
}

// 0 1 | 2 3: 1 to 2 and 3 to 0 cross.
TEST(ports, that_are_shared_have_their_own_efficiency_between_nodes) {
    const Topology topology = toy_crossbar(4, 2, 10_GBps, 0_us);
    const ProtocolCost protocol{.efficiency_in_node = 0.5, .efficiency_across = 0.25, .efficiency_shared = 0.125};
    for (const Ports ports : {Ports::own, Ports::shared}) {
        PhaseTraffic traffic(topology, protocol);
        traffic.add({.peer = Peer::shift}, {.channels = {first_ranks(4)}, .ports = ports});
        const double across = ports == Ports::own ? 4.0 : 8.0;
        EXPECT_THAT(loads_of(traffic.pattern()),
                    testing::ElementsAre(Pair(0, 2.0), Pair(1, across), Pair(2, across), Pair(3, 2.0), Pair(4, 2.0),
                                         Pair(5, across), Pair(6, across), Pair(7, 2.0)));
    }
}

// In a node a message takes 1 us, between nodes 5 us, and each link another: 3 x (1 + 2) + 2 x (5 + 2) us.
TEST(listed_phases, load_by_weight_and_count_hops_inside_and_between_nodes_apart) {
    const Topology topology = toy_crossbar(4, 2, 10_GBps, 1_us);
    const ProtocolCost protocol{.step_in_node = 1_us, .step_across = 5_us};
    PhaseTraffic traffic(topology, protocol);
    traffic.add({.peer = Peer::listed, .hops = 3, .hops_across = 2, .edges = {{1, 0}, {0, 2, 0.5}, {2, 0, 0.25}}},
                {{first_ranks(4)}});
    EXPECT_THAT(loads_of(traffic.pattern()),
                testing::ElementsAre(Pair(0, 0.5), Pair(1, 1.25), Pair(2, 1.0), Pair(4, 0.25), Pair(5, 0.5)));
    EXPECT_EQ(traffic.pattern().alone, 8_GBps);
    EXPECT_NEAR(traffic.latency().value, 23e-6, 1e-15);
}

TEST(spans, shift_inside_themselves) {
    const Topology topology = toy_crossbar(4, 2, 10_GBps, 1_us);
    const ProtocolCost protocol{.step_in_node = 1_us, .step_across = 5_us};
    PhaseTraffic traffic(topology, protocol);
    traffic.add({.peer = Peer::shift_in_span, .span = 2, .repeat = 3, .hops = 3}, {{first_ranks(4)}});
    for (const LinkLoad& load : traffic.pattern().loads) EXPECT_EQ(load.load, 1.0);
    EXPECT_NEAR(traffic.latency().value, 9e-6, 1e-15) << "three messages of 1 + 2 us, none between nodes";
}

// 4 us of bytes and 3 us of latencies: 7 us one after the other, 5 us = sqrt(3^2 + 4^2) at an overlap of 2.
TEST(overlap, hides_latencies_behind_bytes_by_a_p_norm) {
    PhaseCost phase{.launch = 1_us, .path = 3_us, .bytes_per_message_byte = 1.0};
    phase.pattern = {{{LinkId(0), 1.0}}, {1e300}, 10_GBps};
    EXPECT_NEAR(phase.time({40e3}).value, 8e-6, 1e-15);
    phase.overlap = 2.0;
    EXPECT_NEAR(phase.time({40e3}).value, 6e-6, 1e-15);
    EXPECT_NEAR(phase.latency({40e3}).value, 2e-6, 1e-15);
    EXPECT_NEAR(phase.time({30e3}).value, 1e-6 + std::sqrt(18.0) * 1e-6, 1e-15);
    EXPECT_NEAR(phase.time({22.5e3}).value, 1e-6 + 3.75e-6, 1e-15);  // 3^2 + 2.25^2 = 3.75^2
    EXPECT_NEAR(phase.latency({}).value, 4e-6, 1e-15);
    // Far apart, nothing is lost to rounding: b + l^2 / 2 b.
    EXPECT_NEAR(phase.latency({40e9}).value - 1e-6, 9e-12 / 8.0, 1e-18);
}

TEST(overlap, of_one_adds_up_and_of_many_takes_the_longer) {
    PhaseCost phase{.path = 3_us, .bytes_per_message_byte = 0.5};
    phase.pattern = {{{LinkId(0), 1.0}}, {1e300}, 10_GBps};
    EXPECT_EQ(phase.bytes({80e3}), Bytes{40e3});
    EXPECT_NEAR(phase.time({80e3}).value, 7e-6, 1e-15);
    phase.overlap = 64.0;
    EXPECT_NEAR(phase.time({80e3}).value, 4e-6, 1e-11);
}

}  // namespace
}  // namespace weft
