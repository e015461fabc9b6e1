// Networks that are cabled in any manner: routes between all pairs, the same tree said twice, cuts, and what is
// refused.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/topologies/all_pairs.hpp"
#include "tests/topologies/small_machine.hpp"
#include "topologies/machine.hpp"

namespace weft {
namespace {

using nlohmann::json;

Machine read(const json& network) { return Machine::read(Document::parse("m.json", small_machine(network.dump()))); }

std::string error_of(const json& network) {
    try {
        read(network);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "none";
}

json network_of(json switches, json cables, json nodes) {
    return {{"kind", "switches"},
            {"port", "port"},
            {"switches", std::move(switches)},
            {"cables", std::move(cables)},
            {"nodes", std::move(nodes)}};
}

// Four leaves of four nodes below two spines; one leaf has lost a cable, another has its NICs on two leaves.
json uneven() {
    const json cables = {{"up", {{0, 4, 2}, {0, 5, 2}, {1, 4, 2}, {1, 5}, {2, 4, 2}, {2, 5, 2}, {3, 4, 2}}},
                         {"core", {{3, 5, 3}}}};
    return network_of({"leaf0", "leaf1", "leaf2", "leaf3", "spine0", "spine1"}, cables,
                      {0, 0, 0, 0, 1, 1, 1, 1, {2, 3}, {2, 3}, {2, 3}, {2, 3}, 3, 3, 3, {3, 2}});
}

// A ring of eight switches with two nodes each: two ways round, of one length between opposite switches.
json ring() {
    json cables = json::array(), nodes = json::array();
    for (int i = 0; i < 8; ++i) {
        cables.push_back({i, (i + 1) % 8});
        nodes.insert(nodes.end(), {i, i});
    }
    return network_of(8, {{"up", cables}}, nodes);
}

TEST(switches, routes_lead_where_they_should_and_are_as_long_back) {
    for (const json& network : {uneven(), ring()}) {
        expect_sound_routes(read(network).topology(16));
        expect_sound_routes(read(network).topology(5));
    }
}

TEST(switches, routes_are_shortest_paths) {
    for (const json& network : {uneven(), ring()}) {
        const Topology topology = read(network).topology(16);
        for (std::uint32_t a = 0; a < topology.ranks; ++a) {
            const Table<NodeId, std::uint32_t> distances = distances_from(topology, topology.endpoint(RankId{a}));
            for (std::uint32_t b = 0; b < topology.ranks; ++b) {
                if (a / 2 == b / 2) continue;
                // The other NIC of a node may be nearer to a receiver than the sender's own.
                const Route route = topology.route(RankId{a}, RankId{b}, 1);
                EXPECT_GE(route.hops, distances[topology.endpoint(RankId{b})]);
                EXPECT_LE(route.hops, distances[topology.endpoint(RankId{b})] + 2U);
            }
        }
    }
}

// Every way is found, none twice: from leaf 0 to leaf 1 by spine 0 (2 x 2 cables) or spine 1 (2 x 1).
TEST(switches, salts_take_every_way_in_turn) {
    const Topology topology = read(uneven()).topology(16);
    std::set<std::vector<LinkId>> ways;
    for (std::uint64_t salt = 0; salt < 6; ++salt) {
        const Route route = topology.route(RankId{0}, RankId{8}, salt);
        ways.emplace(route.links().begin(), route.links().end());
    }
    EXPECT_EQ(ways.size(), 6U);
    EXPECT_EQ(topology.router->detours(RankId{0}, RankId{8}), 4U);
    for (std::uint32_t i = 0; i < 4; ++i) {
        const Route route = topology.route(RankId{0}, RankId{8}, 0);
        const Route detour = topology.router->detour(RankId{0}, RankId{8}, 0, i);
        EXPECT_FALSE(std::ranges::equal(route.links(), detour.links()));
    }
}

// A fat tree and its cables one by one: 2 spines, 2 leaves of 8 nodes, 8 cables between each.
const std::string tree = R"({ "kind": "fat_tree", "source": "test", "nodes_per_leaf": 8, "radix": 64, "port": "port",
    "levels": [ { "link": "up", "children": 2, "parents": 2, "cables": 8 } ] })";
json listed_tree() {
    json nodes = json::array();
    for (int i = 0; i < 16; ++i) nodes.push_back(i / 8);
    return network_of(4, {{"up", {{0, 2, 8}, {0, 3, 8}, {1, 2, 8}, {1, 3, 8}}}}, nodes);
}

TEST(switches, a_fat_tree_that_is_listed_is_that_tree) {
    const Machine arithmetic = Machine::read(Document::parse("m.json", small_machine(tree)));
    const Machine listed = read(listed_tree());
    EXPECT_EQ(listed.info().bisection, arithmetic.info().bisection);
    EXPECT_EQ(listed.info().neighbourhoods, (std::vector<std::uint32_t>{8}));
    const Topology one = arithmetic.topology(16), other = listed.topology(16);
    EXPECT_EQ(one.links(), other.links());
    EXPECT_EQ(one.vertices(), other.vertices());
    const Loads loads = all_to_all(one), listed_loads = all_to_all(other);
    const auto busiest = [](const Loads& of) {
        return std::ranges::max_element(of, {}, [](const auto& each) { return each.second; })->second;
    };
    EXPECT_EQ(busiest(listed_loads), busiest(loads));
}

TEST(switches, the_cut_is_through_the_thinnest_place) {
    json thin = listed_tree();
    thin["cables"]["up"] = {{0, 2, 1}, {0, 3, 1}, {1, 2, 8}, {1, 3, 8}};  // two cables of 10 GB/s out of leaf 0
    EXPECT_EQ(read(thin).info().bisection, 20_GBps);
    EXPECT_EQ(read(ring()).info().bisection, 20_GBps);  // two cables
}

TEST(switches, uneven_runs_of_nodes_are_no_neighbourhoods) {
    EXPECT_TRUE(read(uneven()).info().neighbourhoods.empty());
    EXPECT_EQ(read(ring()).info().neighbourhoods, (std::vector<std::uint32_t>{2}));
}

TEST(switches, a_network_that_falls_apart_is_refused_by_name) {
    json broken = uneven();
    broken["cables"] = {{"up", {{0, 4}, {1, 4}, {2, 5}, {3, 5}}}};
    const std::string error = error_of(broken);
    EXPECT_NE(error.find("falls apart"), std::string::npos) << error;
    EXPECT_NE(error.find("\"leaf0\""), std::string::npos) << error;
    EXPECT_NE(error.find("\"leaf2\""), std::string::npos) << error;
}

// Rails without a switch between them serve nodes that change rails inside.
TEST(switches, rails_need_no_way_to_each_other_with_pxn) {
    json nodes = json::array();
    for (int i = 0; i < 16; ++i) nodes.push_back({0, 1});
    const json rails = network_of(2, json::object(), nodes);
    EXPECT_NE(error_of(rails).find("falls apart"), std::string::npos);
    const std::string text =
        replaced(small_machine(rails.dump()), R"("attached": [0, 1],)", R"("attached": [0, 1], "pxn": true,)");
    const Topology topology = Machine::read(Document::parse("m.json", text)).topology(16);
    expect_contiguous(topology, RankId{0}, RankId{31}, topology.route(RankId{0}, RankId{31}));
}

TEST(switches, mistakes_are_told) {
    const auto with = [](std::string_view key, json value) {
        json network = listed_tree();
        network[std::string(key)] = std::move(value);
        return error_of(network);
    };
    EXPECT_NE(with("switches", 0).find("switches"), std::string::npos);
    EXPECT_NE(with("switches", json::array()).find("expected 1 to"), std::string::npos);
    EXPECT_NE(with("switches", 3).find("expected a switch from 0 to 2, got 3"), std::string::npos);
    EXPECT_NE(with("cables", {{"nowire", {{0, 1}}}}).find("no link class is called \"nowire\""), std::string::npos);
    EXPECT_NE(with("cables", {{"up", {{0, 0}}}}).find("cabled to itself"), std::string::npos);
    EXPECT_NE(with("cables", {{"up", {{0, 1, 0}}}}).find("at least one cable"), std::string::npos);
    EXPECT_NE(with("cables", {{"up", {{0, 1, 4000000000U}}}}).find("cables in all"), std::string::npos);
    EXPECT_NE(with("cables", {{"up", {{0}}}}).find("two switches"), std::string::npos);
    EXPECT_NE(with("nodes", {0, 1}).find("each of the 16 nodes, got 2"), std::string::npos);
    EXPECT_NE(with("nodes", json(16, json{0, 1, 1})).find("each of the 2 NICs, got 3"), std::string::npos);
}

}  // namespace
}  // namespace weft
