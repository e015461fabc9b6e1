// What tests ask of the routes between all pairs of ranks of a small machine.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <string_view>
#include <vector>

#include "tests/topologies/route_walk.hpp"

namespace weft {

inline void expect_simple(const Topology& topology, RankId from, RankId to, const Route& route) {
    expect_contiguous(topology, from, to, route);
    std::set<NodeId> visited{topology.endpoint(from)};
    for (const LinkId link : route.links()) {
        EXPECT_TRUE(visited.insert(topology.head(link)).second)
            << "a way from rank " << index(from) << " to " << index(to) << " passes a vertex twice";
    }
}

// How many detours of a message cross each link: one by one, and all together.
inline std::map<LinkId, std::uint32_t> detours_one_by_one(const Topology& topology, RankId from, RankId to,
                                                          std::uint64_t salt) {
    std::map<LinkId, std::uint32_t> times;
    for (std::uint32_t i = 0; i < topology.router->detours(from, to); ++i) {
        const Route detour = topology.router->detour(from, to, salt, i);
        for (const LinkId link : detour.links()) ++times[link];
    }
    return times;
}
inline std::map<LinkId, std::uint32_t> detours_together(const Topology& topology, RankId from, RankId to,
                                                        std::uint64_t salt) {
    std::vector<LinkTimes> links;
    topology.router->add_detours(from, to, salt, links);
    std::map<LinkId, std::uint32_t> times;
    for (const LinkTimes& each : links) times[each.link] += each.times;
    return times;
}

// Routes and detours lead where they should, pass no vertex twice, and are as long as those back.
inline void expect_sound_routes(const Topology& topology) {
    for (std::uint32_t a = 0; a < topology.ranks; ++a) {
        for (std::uint32_t b = 0; b < topology.ranks; ++b) {
            const RankId from{a}, to{b};
            const std::uint32_t detours = topology.router->detours(from, to);
            EXPECT_EQ(detours, topology.router->detours(to, from));
            for (const std::uint64_t salt : {0ULL, 1ULL, 5ULL, ~0ULL}) {
                const Route route = topology.route(from, to, salt);
                expect_simple(topology, from, to, route);
                EXPECT_EQ(route.hops, topology.route(to, from, salt).hops);
                if (topology.router->has_one_route(from, to)) {
                    const Route first = topology.route(from, to, 0);
                    EXPECT_TRUE(std::ranges::equal(route.links(), first.links()));
                }
                EXPECT_EQ(detours_together(topology, from, to, salt), detours_one_by_one(topology, from, to, salt));
                for (std::uint32_t i = 0; i < detours; ++i) {
                    const Route detour = topology.router->detour(from, to, salt, i);
                    expect_simple(topology, from, to, detour);
                    EXPECT_EQ(detour.hops, topology.router->detour(to, from, salt, i).hops);
                }
            }
        }
    }
}

using Loads = std::map<LinkId, std::uint32_t>;

// How many routes cross each link when every rank sends to every other.
inline Loads all_to_all(const Topology& topology, std::uint64_t salt = 0) {
    Loads loads;
    for (std::uint32_t a = 0; a < topology.ranks; ++a) {
        for (std::uint32_t b = 0; b < topology.ranks; ++b) {
            const Route route = topology.route(RankId{a}, RankId{b}, salt);
            for (const LinkId link : route.links()) ++loads[link];
        }
    }
    return loads;
}

// Every link of the class carries `load`.
inline void expect_even(const Topology& topology, const Loads& loads, std::string_view link_class, std::uint32_t load) {
    std::uint32_t links = 0;
    for (LinkId link{}; index(link) < topology.links(); link = next(link)) {
        if (topology.link(link).name != link_class) continue;
        ++links;
        const auto found = loads.find(link);
        EXPECT_EQ(found == loads.end() ? 0U : found->second, load) << link_class << " " << index(link);
    }
    EXPECT_GT(links, 0U) << link_class;
}

inline std::uint32_t count_links(const Topology& topology, std::string_view link_class) {
    std::uint32_t links = 0;
    for (LinkId link{}; index(link) < topology.links(); link = next(link)) {
        links += topology.link(link).name == link_class;
    }
    return links;
}

// Fewest links between any two vertices, by breadth-first search from one of them: slow, and knows no arithmetic.
inline Table<NodeId, std::uint32_t> distances_from(const Topology& topology, NodeId start) {
    Table<NodeId, std::vector<NodeId>> after(topology.vertices());
    for (LinkId link{}; index(link) < topology.links(); link = next(link)) {
        after[topology.tail(link)].push_back(topology.head(link));
    }
    Table<NodeId, std::uint32_t> distance(topology.vertices(), ~0U);
    std::queue<NodeId> next_ones({start});
    for (distance[start] = 0; !next_ones.empty(); next_ones.pop()) {
        for (const NodeId head : after[next_ones.front()]) {
            if (distance[head] != ~0U) continue;
            distance[head] = distance[next_ones.front()] + 1;
            next_ones.push(head);
        }
    }
    return distance;
}

// The text of a machine file with one part replaced.
inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

}  // namespace weft
