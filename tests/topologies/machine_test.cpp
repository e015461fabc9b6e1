// Every shipped machine, by name: a new machine file is tested without touching this one.
#include "topologies/machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "sim/io/diagnostics.hpp"
#include "tests/topologies/route_walk.hpp"

namespace weft {
namespace {

class machine : public testing::TestWithParam<std::string> {
  protected:
    Machine machine_ = Machine::load(GetParam());
    const MachineInfo& info_ = machine_.info();

    // Ranks on nodes that stand in every relation the network knows: the same node, the next, and the first one past
    // each neighbourhood, from the first node and from an odd one, every local accelerator of the first.
    std::vector<std::pair<RankId, RankId>> pairs() const {
        std::vector<std::uint32_t> distances{0, 1};
        distances.insert(distances.end(), info_.neighbourhoods.begin(), info_.neighbourhoods.end());
        distances.push_back(info_.nodes - 1);
        std::vector<std::pair<RankId, RankId>> pairs;
        for (const std::uint32_t start : {0U, 3U}) {
            for (const std::uint32_t distance : distances) {
                const std::uint32_t n = info_.accelerators_per_node;
                const std::uint32_t other = std::min(start + distance, info_.nodes - 1);
                for (std::uint32_t i = 0; i < n; ++i) {
                    for (std::uint32_t j = 0; j < n; ++j)
                        pairs.emplace_back(RankId(start * n + i), RankId(other * n + j));
                }
            }
        }
        return pairs;
    }
};

TEST_P(machine, whole_machine_has_its_accelerators_in_rank_order) {
    const Topology topology = machine_.topology(info_.nodes);
    EXPECT_EQ(topology.name, GetParam());
    EXPECT_EQ(topology.ranks, info_.nodes * info_.accelerators_per_node);
    std::set<NodeId> vertices;
    for (RankId rank{}; index(rank) < topology.ranks; rank = next(rank)) {
        const NodeId vertex = topology.endpoint(rank);
        EXPECT_EQ(topology.node_kind(vertex), NodeKind::accelerator);
        vertices.insert(vertex);
    }
    EXPECT_EQ(vertices.size(), topology.ranks);
}

TEST_P(machine, every_link_has_a_way_back_of_its_class) {
    const Topology topology = machine_.topology(std::min(info_.nodes, 300U));
    std::multiset<std::tuple<NodeId, NodeId, LinkClassId>> ways, back;
    for (LinkId link{}; index(link) < topology.links(); link = next(link)) {
        ways.emplace(topology.tail(link), topology.head(link), topology.link_class(link));
        back.emplace(topology.head(link), topology.tail(link), topology.link_class(link));
    }
    EXPECT_EQ(ways, back);
}

TEST_P(machine, figures_are_physical) {
    for (const LinkClass& link_class : machine_.topology(1).classes) {
        EXPECT_GT(link_class.bandwidth, BytesPerSecond{});
        EXPECT_LE(link_class.bandwidth, link_class.nominal);
        EXPECT_GE(link_class.latency, Seconds{});
        EXPECT_LT(link_class.latency, 10_us);
    }
    for (const Library& library : info_.libraries) {
        EXPECT_GE(library.launch, Seconds{}) << library.name;
        for (const Collective op : {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
                                    Collective::broadcast, Collective::all_to_all}) {
            EXPECT_TRUE(std::any_of(library.costs.begin(), library.costs.end(),
                                    [&](const ProtocolCost& cost) {
                                        return cost.serves(op) && find_algorithm(op, cost.algorithm) != nullptr;
                                    }))
                << library.name << " cannot run " << name(op);
        }
    }
    EXPECT_GT(info_.bisection, BytesPerSecond{});
    EXPECT_TRUE(std::is_sorted(info_.neighbourhoods.begin(), info_.neighbourhoods.end()));
}

TEST_P(machine, routes_are_contiguous_and_simple) {
    const Topology topology = machine_.topology(info_.nodes);
    for (const auto& [from, to] : pairs()) {
        for (const std::uint64_t salt : {0ULL, 1ULL, 7ULL, ~0ULL}) {
            const Route route = topology.route(from, to, salt);
            expect_contiguous(topology, from, to, route);
            std::set<NodeId> visited{topology.endpoint(from)};
            for (const LinkId link : route.links()) {
                EXPECT_TRUE(visited.insert(topology.head(link)).second) << "a route passes a vertex twice";
            }
        }
    }
}

TEST_P(machine, routes_have_equal_hops_both_ways_and_repeat_exactly) {
    const Topology topology = machine_.topology(info_.nodes);
    for (const auto& [from, to] : pairs()) {
        const Route there = topology.route(from, to, 3), again = topology.route(from, to, 3);
        EXPECT_EQ(there.hops, topology.route(to, from, 3).hops);
        EXPECT_TRUE(std::equal(there.links().begin(), there.links().end(), again.links().begin(), again.links().end()));
    }
}

std::uint32_t from_node(const Topology& topology, RankId rank) {
    return topology.node_of(rank) * topology.ranks_per_node;
}

TEST_P(machine, traffic_between_nodes_uses_the_ports_of_its_ranks_and_only_those) {
    const Topology topology = machine_.topology(info_.nodes);
    for (const auto& [from, to] : pairs()) {
        const Route route = topology.route(from, to, 0);
        const auto uses = [&](LinkId link) { return std::count(route.links().begin(), route.links().end(), link); };
        const bool across = topology.node_of(from) != topology.node_of(to);
        const RankId forwarder{from_node(topology, from) + topology.local_of(to)};  // of the receiver's rail, with PXN
        const auto own = uses(topology.router->uplink(from)), rail = uses(topology.router->uplink(forwarder));
        EXPECT_EQ(std::max(own, rail), across ? 1 : 0);
        EXPECT_EQ(uses(topology.wiring->reverse(topology.router->uplink(to))), across ? 1 : 0);
        EXPECT_EQ(switch_hops(topology, route) > 0 && !across, false);
    }
}

TEST_P(machine, nics_are_shared_evenly) {
    const Topology topology = machine_.topology(1);
    std::map<LinkId, std::uint32_t> users;
    for (std::uint32_t i = 0; i < topology.ranks; ++i) ++users[topology.router->uplink(RankId(i))];
    EXPECT_EQ(users.size(), std::min(info_.nics_per_node, info_.accelerators_per_node));
    for (const auto& [link, count] : users) {
        EXPECT_LE(count, (info_.accelerators_per_node + info_.nics_per_node - 1) / info_.nics_per_node);
    }
}

TEST_P(machine, first_nodes_route_as_the_whole_machine_does) {
    const Topology whole = machine_.topology(info_.nodes);
    for (const std::uint32_t nodes : {2U, 19U, 70U, 300U}) {
        if (nodes > info_.nodes) continue;
        const Topology part = machine_.topology(nodes);
        EXPECT_LE(part.links(), whole.links());
        for (std::uint32_t i = 1; i < nodes; i += 3) {
            const auto from = RankId(i % info_.accelerators_per_node),
                       to = RankId((i + 1) * info_.accelerators_per_node - 1);
            const Route route = part.route(from, to, i);
            expect_contiguous(part, from, to, route);
            EXPECT_EQ(classes_along(part, route), classes_along(whole, whole.route(from, to, i)));
        }
    }
}

TEST_P(machine, has_no_more_nodes_than_it_has) {
    EXPECT_THROW(static_cast<void>(machine_.topology(0)), RangeError);
    EXPECT_THROW(static_cast<void>(machine_.topology(info_.most_nodes + 1)), RangeError);
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
    std::string name = info.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(shipped, machine, testing::ValuesIn(machine_names()), test_name);

TEST(machines, ship_sorted_and_unique) {
    const std::vector<std::string> names = machine_names();
    EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
    EXPECT_EQ(std::set(names.begin(), names.end()).size(), names.size());
    EXPECT_TRUE(std::binary_search(names.begin(), names.end(), "frontier"));
}

TEST(machines, unknown_name_is_answered_with_the_nearest) {
    try {
        static_cast<void>(Machine::load("fronteir"));
        FAIL() << "an unknown machine was loaded";
    } catch (const ConfigError& error) {
        EXPECT_NE(std::string(error.what()).find("did you mean \"frontier\""), std::string::npos) << error.what();
    }
}

TEST(machines, are_called_as_people_call_them) {
    const std::map<std::string, std::string> expected{
        {"Frontier", "frontier"},       {"LUMI", "lumi-g"},           {"lumi_g", "lumi-g"},
        {"DGX H100", "dgx-h100"},       {"eos", "dgx-h100"},          {"Selene", "dgx-a100"},
        {"El Capitan", "el-capitan"},   {"Jean Zay", "jean-zay"},     {"DGX A100 40GB", "dgx-a100-40"},
        {"GB200 NVL72", "gb200-nvl72"}, {"Perlmutter", "perlmutter"}, {"TPU v5p", "tpu-v5p"}};
    for (const auto& [said, name] : expected) EXPECT_EQ(Machine::load(said).info().name, name) << said;
    for (const char* const other : {"dgx", "h100", "dgx-a10040", "tpu", "alps-h100"}) {
        EXPECT_THROW(static_cast<void>(Machine::load(other)), ConfigError) << other;
    }
}

TEST(machines, a_path_is_read_from_disk) {
    const Machine machine = Machine::load(WEFT_SOURCE_DIR "/topologies/machines/dgx-a100.json");
    EXPECT_EQ(machine.info().name, "dgx-a100");
    EXPECT_EQ(machine.info().nodes, Machine::load("dgx-a100").info().nodes);
}

}  // namespace
}  // namespace weft
