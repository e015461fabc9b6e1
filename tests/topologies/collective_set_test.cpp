#include "topologies/collective_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "sim/cost/phase_traffic.hpp"
#include "sim/engine/engine.hpp"
#include "sim/program/program_builder.hpp"
#include "topologies/machine.hpp"

namespace weft {
namespace {

// What the engine takes for a program of one exchange of the whole set.
Seconds engine_time(CollectiveSet& set, const Topology& topology, const Choice& choice, Bytes message) {
    ProgramBuilder builder({"all"});
    std::vector<Leg> legs;
    for (const PhaseCost& phase : set.costs().phases(choice)) {
        legs.push_back({builder.pattern(phase.pattern), phase.latency(message), phase.bytes(message)});
    }
    const CommunicationId communication = builder.communication({.op = choice.algorithm->op,
                                                                 .group_size = set.layout().members(),
                                                                 .groups = set.layout().groups,
                                                                 .message = message},
                                                                legs);
    const ExchangeId exchange = builder.exchange(communication, 1);
    builder.begin_class("all", RankId(0), set.layout().ranks);
    builder.add(
        Op{.kind = OpKind::exchange, .label = builder.label("call"), .subject = static_cast<std::uint32_t>(exchange)},
        {});
    return since_start(simulate(builder.finish(), topology, NetworkKind::flow).end);
}

struct SetCase {
    const char* machine;
    SetLayout layout;
};

class collective_set : public testing::TestWithParam<SetCase> {};

TEST_P(collective_set, takes_as_long_as_its_program_in_the_engine) {
    const Machine machine = Machine::load(GetParam().machine);
    const Topology topology = machine.topology(GetParam().layout.nodes());
    CollectiveSet set(topology, machine.info().library(), GetParam().layout);
    for (const Collective op : {Collective::all_reduce, Collective::all_gather, Collective::all_to_all}) {
        for (const Choice& choice : set.costs().candidates(op)) {
            for (const Bytes message : {8_B, 1_MiB, 1_GiB}) {
                const double engine = engine_time(set, topology, choice, message).value;
                EXPECT_NEAR(set.time(choice, message).value, engine, 1e-9 * engine + 1e-11)
                    << choice.protocol->algorithm << ' ' << choice.protocol->protocol << ' ' << message.value;
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(shapes, collective_set,
                         testing::Values(SetCase{"frontier", {.ranks = 8, .ranks_per_node = 8}},
                                         SetCase{"frontier", {.ranks = 64, .ranks_per_node = 8}},
                                         SetCase{"frontier", {.ranks = 64, .ranks_per_node = 8, .groups = 8}},
                                         SetCase{"frontier", {.ranks = 64, .ranks_per_node = 8, .groups = 4}},
                                         SetCase{"dgx-a100", {.ranks = 32, .ranks_per_node = 8, .groups = 8}},
                                         SetCase{"dgx-a100", {.ranks = 6, .ranks_per_node = 2, .groups = 2}}));

TEST(collective_set, groups_on_the_same_nics_are_slower_than_one_alone) {
    const Machine machine = Machine::load("frontier");
    const Library& library = machine.info().library();
    const Topology topology = machine.topology(8);
    CollectiveSet one(topology, library, {.ranks = 8, .ranks_per_node = 1});
    CollectiveSet eight(topology, library, {.ranks = 64, .ranks_per_node = 8, .groups = 8});
    const Choice choice =
        *one.costs().choose(Collective::all_reduce, 1_GiB, {.algorithm = "ring", .protocol = "Simple"});
    EXPECT_GT(eight.time(choice, 1_GiB), one.time(choice, 1_GiB) * 1.5);
    EXPECT_EQ(one.time(choice, 1_GiB), one.costs().idle_time(choice, 1_GiB));  // alone, a set is a group
}

TEST(collective_set, a_forced_order_is_kept_in_the_channels_asked_for) {
    const Machine machine = Machine::load("frontier");
    const Topology topology = machine.topology(1);
    CollectiveSet set(topology, machine.info().library(),
                      {.ranks = 4, .ranks_per_node = 8, .order = {3, 1, 0, 2}, .channels = 2});
    const std::vector<RankId> order{RankId(3), RankId(1), RankId(0), RankId(2)};
    EXPECT_EQ(set.communicators(Order::rings).front().channels, (std::vector{order, order}));
}

TEST(collective_set, an_order_that_leaves_a_node_and_comes_back_has_no_even_blocks) {
    const Machine machine = Machine::load("frontier");
    const Topology topology = machine.topology(2);
    const Library& library = machine.info().library();
    CollectiveSet runs(topology, library, {.ranks = 4, .ranks_per_node = 2, .order = {2, 3, 0, 1}});
    CollectiveSet mixed(topology, library, {.ranks = 4, .ranks_per_node = 2, .order = {0, 2, 1, 3}});
    EXPECT_TRUE(runs.costs().shape().even);
    EXPECT_FALSE(mixed.costs().shape().even);
}

// Groups that differ: of eight groups of three, one per die, some leave their nodes by one NIC and some by another;
// over adaptive and Valiant routing. Twin: the first with the least time of all candidates, every one worked out in
// full.
TEST(collective_set, the_cheapest_of_many_groups_is_that_of_all_candidates) {
    for (const char* const name : {"frontier", "dgx-h100", "perlmutter"}) {
        const Machine machine = Machine::load(name);
        Library library = machine.info().library();
        library.tuner.reset();
        const Topology topology = machine.topology(3);
        const std::uint32_t dies = topology.ranks_per_node;
        const SetLayout layout{.ranks = 3 * dies, .ranks_per_node = dies, .groups = dies};
        for (const Bytes message : {8_B, 64_KiB, 4_MiB, 1_GiB}) {
            CollectiveSet fresh(topology, library, layout), twin(topology, library, layout);
            const std::vector<Choice> all = twin.costs().candidates(Collective::all_reduce);
            std::vector<Choice> possible;
            for (const Choice& choice : all) {
                if (twin.costs().carries(choice, message)) possible.push_back(choice);
            }
            ASSERT_GT(possible.size(), 1U);
            const Choice cheapest =
                *std::min_element(possible.begin(), possible.end(), [&](const Choice& a, const Choice& b) {
                    return twin.costs().idle_time(a, message) < twin.costs().idle_time(b, message);
                });
            EXPECT_EQ(*fresh.costs().choose(Collective::all_reduce, message), cheapest) << name;
        }
    }
}

// On one leaf (two nodes) and over several (40 nodes, with detours). Twin: message by message.
TEST(collective_set, everyone_to_everyone_loads_what_its_messages_load) {
    for (const Routing routing : {Routing::minimal, Routing::valiant}) {
        for (const std::uint32_t nodes : {2U, 40U}) {
            const Topology topology = Machine::load("dgx-h100").topology(nodes, {.routing = routing});
            std::vector<RankId> members;
            for (std::uint32_t node = 0; node < nodes; node += nodes / 2) {
                for (std::uint32_t i = 0; i < 8; ++i) members.push_back(RankId{node * 8 + i});
            }
            const ProtocolCost protocol{.efficiency_in_node = 0.5, .efficiency_across = 0.8};
            const Communicator communicator{.channels = {members, members, members}};
            PhaseTraffic traffic(topology, protocol);
            traffic.add({.peer = Peer::all}, communicator);
            std::map<LinkId, double> naive;
            const auto add = [&](const Route& route, double bytes, double efficiency) {
                for (const LinkId link : route.links()) {
                    naive[link] += topology.wiring->joins_switches(link) ? bytes : bytes / efficiency;
                }
            };
            for (std::uint64_t channel = 0; channel < 3; ++channel) {
                for (const RankId from : members) {
                    for (const RankId to : members) {
                        const bool across = topology.node_of(from) != topology.node_of(to);
                        const double efficiency = across ? 0.8 : 0.5;
                        const std::uint32_t detours =
                            routing == Routing::valiant ? topology.router->detours(from, to) : 0;
                        if (from != to && detours == 0) add(topology.route(from, to, channel), 1.0 / 3, efficiency);
                        for (std::uint32_t i = 0; i < detours; ++i) {
                            add(topology.router->detour(from, to, channel, i), 1.0 / 3 / detours, efficiency);
                        }
                    }
                }
            }
            const Pattern pattern = traffic.pattern();
            ASSERT_EQ(pattern.loads.size(), naive.size());
            for (const LinkLoad& load : pattern.loads) EXPECT_NEAR(load.load, naive[load.link], 1e-9);
        }
    }
}

// A library's tables are of collectives: what RCCL sends takes longer the more there is, inside a node and between
// nodes.
TEST(collective_set, sends_do_not_enter_the_tuner_and_are_monotone) {
    const Machine machine = Machine::load("frontier");
    ASSERT_TRUE(machine.info().library().tuner.has_value());
    for (const std::uint32_t per_node : {1U, 8U}) {
        const Topology topology = machine.topology(8 / per_node);
        CollectiveSet set(topology, machine.info().library(), {.ranks = 8, .ranks_per_node = per_node});
        for (const Collective op : {Collective::send_receive, Collective::all_to_all}) {
            Seconds before;
            for (double bytes = 8.0; bytes <= 1e9; bytes *= 2.0) {
                const Seconds time = set.time(*set.costs().choose(op, Bytes{bytes}), Bytes{bytes});
                EXPECT_GE(time, before) << name(op) << " of " << bytes << " B, " << per_node << " ranks a node";
                before = time;
            }
        }
    }
}

// 512 nodes of Frontier are four groups, each pair of them joined by a bundle of four cables. Minimal routes: 128 x 128
// messages of S / 512 cross a bundle, which carries them at its own rate, however badly RCCL drives a NIC. Detours lead
// through 70 idle groups: then the NICs bind, of which RCCL drives 0.57.
TEST(collective_set, all_to_all_over_512_nodes_is_bound_by_wires_or_by_endpoints) {
    const Machine machine = Machine::load("frontier");
    const Bytes message = 1_GiB;
    const auto seconds = [&](Routing routing) {
        const Topology topology = machine.topology(512, {.routing = routing});
        CollectiveSet set(topology, machine.info().library(), {.ranks = 512, .ranks_per_node = 1});
        return set.time(*set.costs().choose(Collective::all_to_all, message), message).value;
    };
    const ProtocolCost* direct = machine.info().library().find(Collective::all_to_all, "direct", "Simple");
    ASSERT_NE(direct, nullptr);
    const double bundle = 4 * 25e9 * 0.933, nic = 25e9 * 0.969;  // B/s, of the machine file
    const double wires = 128.0 * 128.0 / 512.0 * message.value / bundle;
    const double endpoints = 511.0 / 512.0 * message.value / (nic * direct->efficiency_across);
    EXPECT_NEAR(seconds(Routing::minimal), wires, 0.1 * wires);
    EXPECT_NEAR(seconds(Routing::adaptive), endpoints, 0.1 * endpoints);
}

// What binds the whole of Frontier, published at about 30 GB/s per node (secondary source): of what a node sends, 73 of
// 74 parts leave its group, and 128 nodes have 73 bundles of 93.3 GB/s. Straight, each byte crosses one of them: 54
// GB/s a node. On detours two: 27. Its NICs give 97, RCCL's share of them 55. So the global links bind, and some 80 %
// of the bytes take detours, as adaptive routing at full load makes them.
TEST(collective_set, all_to_all_over_all_of_frontier_is_bound_by_global_links_and_detours) {
    const MachineInfo info = Machine::load("frontier").info();
    const double groups = 74, bundle = 4 * 25e9 * 0.933, published = 30e9;
    const double straight = groups * bundle / 128;
    const double nics = info.nics_per_node * info.nic.value;
    const double efficiency = info.library().find(Collective::all_to_all, "direct", "Simple")->efficiency_across;
    EXPECT_NEAR(straight, 53.9e9, 0.1e9);
    EXPECT_GT(nics * efficiency, straight);
    EXPECT_GT(published, straight / 2);
    EXPECT_LT(published, straight);
    EXPECT_NEAR(straight / published - 1, 0.80, 0.01) << "the share of bytes that cross two bundles";
}

// The busiest link of the class that limits is busy for the whole of the bytes' time.
TEST(collective_set, a_large_message_keeps_the_bottleneck_busy) {
    const Machine machine = Machine::load("dgx-a100");
    const Topology topology = machine.topology(1);
    CollectiveSet set(topology, machine.info().library(), {.ranks = 8, .ranks_per_node = 8});
    const Choice choice = *set.costs().choose(Collective::all_reduce, 64_GiB);
    double most = 0.0;
    for (const CollectiveSet::ClassUse& use : set.utilization(choice, 64_GiB)) most = std::max(most, use.utilization);
    EXPECT_GT(most, 0.98);
    EXPECT_LE(most, 1.0 + 1e-9);
}

}  // namespace
}  // namespace weft
