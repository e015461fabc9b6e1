// Degraded and dead links: which cables are meant, what they carry, and that no route crosses a dead one.
#include "topologies/fabric.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "tests/refusal.hpp"
#include "tests/topologies/all_pairs.hpp"
#include "tests/topologies/small_machine.hpp"
#include "topologies/machine.hpp"

namespace weft {
namespace {

LinkFault nic(std::uint32_t node, std::uint32_t number, double share) {
    return {.where = NicCable{node, number}, .share = share};
}
LinkFault way(std::uint32_t from, std::uint32_t to, double share, std::string link_class = "") {
    return {.where = RouteCables{RankId{from}, RankId{to}, std::move(link_class)}, .share = share};
}

Topology faulty(const Machine& machine, std::uint32_t nodes, std::vector<LinkFault> faults) {
    Fabric fabric;
    fabric.link_faults = std::move(faults);
    return machine.topology(nodes, fabric);
}

std::string refusal(const Machine& machine, std::uint32_t nodes, std::vector<LinkFault> faults) {
    return test::refusal_of<RangeError>([&] { faulty(machine, nodes, std::move(faults)); });
}

std::set<LinkId> dead_links(const Topology& topology) {
    std::set<LinkId> dead;
    for (LinkId link{}; index(link) < topology.links(); link = next(link)) {
        if (topology.link(link).name.ends_with(" (dead)")) dead.insert(link);
    }
    return dead;
}

// Every route and detour between the two leads there, passes no vertex twice and crosses nothing dead; their traffic
// leaves and enters nodes by live links.
void expect_sound(const Topology& topology, const std::set<LinkId>& dead, RankId from, RankId to) {
    const auto look = [&](const Route& route) {
        expect_simple(topology, from, to, route);
        for (const LinkId link : route.links()) {
            ASSERT_FALSE(dead.contains(link)) << topology.name << ": " << index(from) << " to " << index(to);
        }
    };
    for (const std::uint64_t salt : {0ULL, 1ULL, 6ULL, ~0ULL}) {
        look(topology.route(from, to, salt));
        const std::uint32_t detours = topology.router->detours(from, to);
        for (std::uint32_t i = 0; i < detours; ++i) look(topology.router->detour(from, to, salt, i));
    }
    EXPECT_FALSE(dead.contains(topology.router->uplink(from)));
}

bool crosses(const Route& route, LinkId link) { return std::ranges::count(route.links(), link) == 1; }

TEST(link_fault, a_slow_nic_is_a_class_of_its_own_both_ways_and_nothing_else_changes) {
    const Machine machine = Machine::load("frontier");
    const Topology intact = machine.topology(4), slow = faulty(machine, 4, {nic(3, 1, 0.5)});
    ASSERT_EQ(slow.classes.size(), intact.classes.size() + 1);
    const LinkClass& added = slow.classes.rows().back();
    EXPECT_EQ(added.name, "slingshot.nic (x 0.5)");
    std::vector<LinkId> changed;
    for (LinkId link{}; index(link) < slow.links(); link = next(link)) {
        if (slow.link_class(link) == intact.link_class(link)) continue;
        changed.push_back(link);
        EXPECT_EQ(intact.link(link).name, "slingshot.nic");
        EXPECT_EQ(slow.link(link).bandwidth.value, 0.5 * intact.link(link).bandwidth.value);
        EXPECT_EQ(slow.link(link).nominal, intact.link(link).nominal);
        EXPECT_EQ(slow.intact_link(link).bandwidth, intact.link(link).bandwidth);
    }
    // NIC 1 of a node is attached to die 3, rank 27 of node 3.
    EXPECT_EQ(changed, (std::vector{intact.router->uplink(RankId{27}),
                                    intact.wiring->reverse(intact.router->uplink(RankId{27}))}));
    EXPECT_EQ(slow.crippled_nodes, std::vector<std::uint32_t>{3});
}

// Rank 0 to rank 1 of the small machine: wire to the node's switch, wire from it. Two cables, four links.
TEST(link_fault, a_route_means_its_cables_and_a_class_only_those_of_that_class) {
    const Machine machine = Machine::read(Document::parse(
        "small.json", small_machine(R"({ "kind": "fat_tree", "source": "test", "nodes_per_leaf": 16, "rails": 2,
            "radix": 32, "port": "port", "levels": [{ "link": "up", "children": 2, "parents": 16 }] })")));
    const Topology topology = machine.topology(16);
    const std::vector<LinkId> links = links_of(topology, way(0, 1, 0.5));
    EXPECT_EQ(links.size(), 4U);
    for (const LinkId link : links) EXPECT_EQ(topology.link(link).name, "wire");
}

TEST(link_fault, where_faults_meet_the_worse_counts_and_equal_faults_share_a_class) {
    const Machine machine = Machine::load("perlmutter");
    const Topology intact = machine.topology(3);
    const Topology slow = faulty(machine, 3, {nic(0, 0, 0.5), nic(0, 0, 0.25), nic(1, 2, 0.5), nic(2, 0, 1)});
    EXPECT_EQ(slow.link(intact.router->uplink(RankId{0})).name, "slingshot.nic (x 0.25)");
    EXPECT_EQ(slow.link(intact.router->uplink(RankId{6})).name, "slingshot.nic (x 0.5)");
    EXPECT_EQ(slow.link_class(intact.router->uplink(RankId{8})), intact.link_class(intact.router->uplink(RankId{8})));
    EXPECT_EQ(slow.classes.size(), intact.classes.size() + 2);
}

TEST(link_fault, what_is_not_there_is_refused_by_name) {
    const Machine machine = Machine::load("frontier");
    EXPECT_EQ(refusal(machine, 2, {nic(2, 0, 0.5)}), "nodes are 0 to 1, not 2");
    EXPECT_EQ(refusal(machine, 2, {nic(0, 4, 0.5)}), "a node of frontier has NICs 0 to 3, not 4");
    EXPECT_EQ(refusal(machine, 2, {way(0, 16, 0.5)}), "ranks are 0 to 15, not 16");
    EXPECT_EQ(refusal(machine, 2, {way(3, 3, 0.5)}), "rank 3 needs no link to itself");
    EXPECT_EQ(refusal(machine, 2, {way(0, 1, 0.5, "slingshot.global")}),
              "the route from rank 0 to rank 1 has no link of class \"slingshot.global\" (it has infinity_fabric.x4)");
    EXPECT_EQ(refusal(machine, 2, {nic(0, 0, 1.5)}), "a link has a share of its bandwidth left from 0 to 1, not 1.5");
}

TEST(link_fault, ranks_that_dead_links_part_are_refused_by_name) {
    const Machine frontier = Machine::load("frontier");
    EXPECT_EQ(refusal(frontier, 2, {nic(1, 0, 0), nic(1, 1, 0), nic(1, 2, 0), nic(1, 3, 0)}),
              "no way is left between rank 8 (node 1) and rank 0 (node 0): dead links part them");
    EXPECT_EQ(refusal(frontier, 1, {nic(0, 0, 0), nic(0, 1, 0), nic(0, 2, 0), nic(0, 3, 0)}), "");  // none is needed
    EXPECT_EQ(refusal(Machine::load("vista"), 4, {nic(2, 0, 0)}),
              "no way is left between rank 2 (node 2) and rank 0 (node 0): dead links part them");
    EXPECT_EQ(refusal(frontier, 2, {nic(0, 0, 0), nic(0, 1, 0), nic(0, 2, 0)}), "");  // one NIC is left for all dies
}

// Die 3 of a Frontier node holds NIC 1, which die 2 uses as well. Dead, messages of die 2 pass through the nearest die
// with another NIC and leave by that.
TEST(link_fault, ranks_whose_nic_is_dead_leave_by_another_one_of_their_node) {
    const Topology topology = faulty(Machine::load("frontier"), 4, {nic(0, 1, 0)});
    const LinkId other = topology.router->uplink(RankId{2});
    EXPECT_EQ(topology.crippled_nodes, std::vector<std::uint32_t>{0});
    EXPECT_EQ(topology.node_kind(topology.tail(other)), NodeKind::nic);
    EXPECT_LT(index(topology.tail(other)), index(topology.endpoint(RankId{8})));  // of node 0
    for (const std::uint32_t to : {8U, 17U, 30U}) {
        const Route out = topology.route(RankId{2}, RankId{to}), in = topology.route(RankId{to}, RankId{2});
        EXPECT_TRUE(crosses(out, other)) << to;
        EXPECT_TRUE(crosses(in, topology.wiring->reverse(topology.router->uplink(RankId{2})))) << to;
    }
    EXPECT_EQ(topology.router->uplink(RankId{0}), Machine::load("frontier").topology(4).router->uplink(RankId{0}));
}

TEST(link_fault, with_pxn_both_ends_leave_the_rail_of_a_dead_nic) {
    const Topology topology = faulty(Machine::load("dgx-h100"), 4, {nic(1, 3, 0)});
    const std::set<LinkId> dead = dead_links(topology);
    ASSERT_EQ(dead.size(), 2U);
    for (std::uint32_t a = 0; a < topology.ranks; ++a) {
        for (std::uint32_t b = 0; b < topology.ranks; ++b) expect_sound(topology, dead, RankId{a}, RankId{b});
    }
    EXPECT_TRUE(crosses(topology.route(RankId{11}, RankId{3}), topology.router->uplink(RankId{11})));
    EXPECT_TRUE(
        crosses(topology.route(RankId{3}, RankId{11}), topology.wiring->reverse(topology.router->uplink(RankId{11}))));
}

// Die 0 is joined to dies 1, 2 and 6, die 1 to 0, 3 and 5, and of 2 and 6 only 2 is joined to 3 or 5: without the first
// link, 0-2-3-1 is the shortest way.
TEST(link_fault, a_dead_link_inside_a_node_is_passed_by_the_shortest_way) {
    const Topology topology = faulty(Machine::load("frontier"), 2, {way(0, 1, 0)});
    EXPECT_EQ(topology.route(RankId{0}, RankId{1}).hops, 3);
    EXPECT_EQ(topology.head(topology.route(RankId{0}, RankId{1}).hop[0]), topology.endpoint(RankId{2}));
    EXPECT_EQ(topology.route(RankId{8}, RankId{9}).hops, 1);
    const std::set<LinkId> dead = dead_links(topology);
    EXPECT_EQ(dead.size(), 2U);
    for (std::uint32_t a = 0; a < topology.ranks; ++a) {
        for (std::uint32_t b = 0; b < topology.ranks; ++b) expect_sound(topology, dead, RankId{a}, RankId{b});
    }
}

// A chip of a torus has one router and no detours: only the shortest way is left. Around a dead link of a ring of at
// least four it has two more hops, sideways and back.
TEST(link_fault, a_dead_link_of_a_torus_costs_two_hops) {
    const Machine machine = Machine::load("tpu-v4");
    const Topology intact = machine.topology(512);
    const Route direct = intact.route(RankId{0}, RankId{1});
    const Topology topology = faulty(machine, 512, {way(0, 1, 0, std::string(intact.link(direct.hop[2]).name))});
    const std::set<LinkId> dead = dead_links(topology);
    EXPECT_EQ(topology.route(RankId{0}, RankId{1}).hops, direct.hops + 2);
    for (std::uint32_t to = 1; to < topology.ranks; ++to) {
        expect_sound(topology, dead, RankId{0}, RankId{to});
        expect_sound(topology, dead, RankId{to}, RankId{0});
    }
}

// On every shipped machine: a dead NIC where a node has several, and a dead cable between switches, drawn at random.
TEST(link_fault, no_route_of_any_machine_crosses_a_dead_link) {
    for (const std::string& name : machine_names()) {
        const Machine machine = Machine::load(name);
        const MachineInfo& info = machine.info();
        const std::uint32_t nodes = std::min(info.nodes, 160U);
        const Topology intact = machine.topology(nodes);
        std::mt19937 random(7);
        const auto draw = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
        for (int round = 0; round < 2; ++round) {
            std::vector<LinkFault> faults;
            const std::uint32_t node = draw(nodes);
            if (info.nics_per_node > 1) faults.push_back(nic(node, draw(info.nics_per_node), 0));
            const std::uint32_t one = draw(intact.ranks), two = draw(intact.ranks);
            const Route route = intact.route(RankId{one}, RankId{two});
            for (const LinkId link : route.links()) {
                if (intact.node_kind(intact.tail(link)) != NodeKind::network_switch ||
                    intact.node_kind(intact.head(link)) != NodeKind::network_switch) {
                    continue;
                }
                faults.push_back(way(one, two, 0, intact.link(link).name));
                break;
            }
            if (faults.empty()) continue;
            const Topology topology = faulty(machine, nodes, faults);
            const std::set<LinkId> dead = dead_links(topology);
            ASSERT_FALSE(dead.empty());
            const std::uint32_t per_node = topology.ranks_per_node;
            for (int pair = 0; pair < 100; ++pair) {
                const RankId crippled{node * per_node + draw(per_node)}, any{draw(topology.ranks)};
                expect_sound(topology, dead, crippled, any);
                expect_sound(topology, dead, any, crippled);
                expect_sound(topology, dead, RankId{one}, any);
                expect_sound(topology, dead, any, RankId{two});
                expect_sound(topology, dead, any, RankId{draw(topology.ranks)});
            }
        }
    }
}

// Slow, and by another way than the code: whether live links lead from one rank to the other through vertices of their
// two nodes and of the network.
bool reaches(const Topology& topology, const std::set<LinkId>& dead, RankId from, RankId to) {
    std::size_t vertices = 0;  // of a node
    while (vertices < topology.vertices() &&
           topology.node_kind(NodeId(static_cast<std::uint32_t>(vertices))) != NodeKind::network_switch) {
        ++vertices;
    }
    vertices /= topology.ranks / topology.ranks_per_node;
    const auto passable = [&](NodeId vertex) {
        const std::size_t node = index(vertex) / vertices;
        return topology.node_kind(vertex) == NodeKind::network_switch || node == topology.node_of(from) ||
               node == topology.node_of(to);
    };
    std::set<NodeId> seen{topology.endpoint(from)};
    for (bool grows = true; grows;) {
        grows = false;
        for (LinkId link{}; index(link) < topology.links(); link = next(link)) {
            if (dead.contains(link) || !passable(topology.head(link)) || !seen.contains(topology.tail(link))) continue;
            grows = seen.insert(topology.head(link)).second || grows;
        }
    }
    return seen.contains(topology.endpoint(to));
}

// Many dead cables on few nodes: either every pair of ranks has a sound way, or the job is refused with reason.
TEST(link_fault, a_job_is_refused_only_if_dead_links_part_two_ranks) {
    const std::string rails = small_machine(R"({ "kind": "fat_tree", "source": "test", "nodes_per_leaf": 2, "rails": 2,
        "radix": 32, "port": "port", "levels": [{ "link": "up", "children": 16, "parents": 2 }] })");
    std::vector<Machine> machines{Machine::read(Document::parse("small.json", rails))};
    for (const char* name : {"frontier", "perlmutter", "leonardo"}) machines.push_back(Machine::load(name));
    std::mt19937 random(11);
    int refused = 0, accepted = 0;
    for (const Machine& machine : machines) {
        const Topology intact = machine.topology(3);
        for (int round = 0; round < 12; ++round) {
            std::vector<LinkFault> faults;
            std::set<LinkId> dead;
            for (std::size_t left = 1 + random() % 9; left > 0; --left) {
                const std::uint32_t from = static_cast<std::uint32_t>(random()) % intact.ranks;
                const std::uint32_t to =
                    (from + 1 + static_cast<std::uint32_t>(random()) % (intact.ranks - 1)) % intact.ranks;
                const Route route = intact.route(RankId{from}, RankId{to});
                const LinkId link = route.hop[random() % route.hops];
                faults.push_back(way(from, to, 0, intact.link(link).name));
                for (const LinkId each : links_of(intact, faults.back())) dead.insert(each);
            }
            bool parted = false;
            for (std::uint32_t a = 0; a < intact.ranks; ++a) {
                for (std::uint32_t b = 0; b < a; ++b) {
                    parted = parted || !reaches(intact, dead, RankId{a}, RankId{b});
                }
            }
            const std::string why = refusal(machine, 3, faults);
            ASSERT_EQ(!why.empty(), parted) << machine.info().name << ", round " << round << ": " << why;
            ++(parted ? refused : accepted);
            if (parted) continue;
            const Topology topology = faulty(machine, 3, faults);
            ASSERT_EQ(dead_links(topology), dead);
            for (std::uint32_t a = 0; a < topology.ranks; ++a) {
                for (std::uint32_t b = 0; b < topology.ranks; ++b) expect_sound(topology, dead, RankId{a}, RankId{b});
            }
        }
    }
    EXPECT_GT(refused, 3);
    EXPECT_GT(accepted, 3);
}

}  // namespace
}  // namespace weft
