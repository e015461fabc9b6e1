// What tests ask of routes.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/topology/topology.hpp"

namespace weft {

// Fails unless the links lead from one rank to the other without a gap.
inline void expect_contiguous(const Topology& topology, RankId from, RankId to, const Route& route) {
    NodeId here = topology.endpoint(from);
    for (const LinkId link : route.links()) {
        ASSERT_LT(index(link), topology.links());
        ASSERT_EQ(topology.tail(link), here) << "rank " << index(from) << " to " << index(to);
        here = topology.head(link);
    }
    EXPECT_EQ(here, topology.endpoint(to)) << "rank " << index(from) << " to " << index(to);
}

inline std::vector<std::string> classes_along(const Topology& topology, const Route& route) {
    std::vector<std::string> names;
    for (const LinkId link : route.links()) names.push_back(topology.link(link).name);
    return names;
}

inline std::size_t switch_hops(const Topology& topology, const Route& route) {
    std::size_t hops = 0;
    for (const LinkId link : route.links()) {
        hops += topology.node_kind(topology.tail(link)) == NodeKind::network_switch &&
                topology.node_kind(topology.head(link)) == NodeKind::network_switch;
    }
    return hops;
}

inline std::vector<RankId> ranks(std::uint32_t first, std::uint32_t count, std::uint32_t stride = 1) {
    std::vector<RankId> result;
    for (std::uint32_t i = 0; i < count; ++i) result.push_back(RankId(first + i * stride));
    return result;
}

}  // namespace weft
