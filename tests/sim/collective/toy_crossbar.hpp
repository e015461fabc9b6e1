// A switch with a link up and a link down per rank: the smallest machine on which closed forms hold.
#pragma once

#include <cstdint>
#include <memory>

#include "sim/topology/topology.hpp"
#include "tests/sim/topology/listed.hpp"

namespace weft::testing_support {

// Rank r's link up is LinkId(2 r), its link down LinkId(2 r + 1).
class CrossbarRouter : public Router {
  public:
    Route route(RankId from, RankId to, std::uint64_t) const override {
        Route route;
        if (from == to) return route;
        route.push_back(uplink(from));
        route.push_back(downlink(to));
        return route;
    }
    LinkId uplink(RankId rank) const override { return LinkId(2 * static_cast<std::uint32_t>(rank)); }
    LinkId downlink(RankId rank) const { return LinkId(2 * static_cast<std::uint32_t>(rank) + 1); }
};

// A message between two ranks takes 2 x `latency` and bytes / `bandwidth`.
inline Topology toy_crossbar(std::uint32_t ranks, std::uint32_t ranks_per_node, BytesPerSecond bandwidth,
                             Seconds latency) {
    Topology topology;
    topology.name = "toy crossbar";
    topology.ranks = ranks;
    topology.ranks_per_node = ranks_per_node;
    const LinkClassId link_class =
        topology.classes.push_back({.name = "toy", .nominal = bandwidth, .bandwidth = bandwidth, .latency = latency});
    Listed listed;
    const NodeId hub = listed.add_vertex(NodeKind::network_switch);
    for (std::uint32_t r = 0; r < ranks; ++r) {
        const NodeId node = listed.add_vertex(NodeKind::accelerator);
        listed.add_link(node, hub, link_class);
        listed.add_link(hub, node, link_class);
    }
    std::move(listed).add_to(topology);
    topology.router = std::make_unique<CrossbarRouter>();
    return topology;
}

}  // namespace weft::testing_support
