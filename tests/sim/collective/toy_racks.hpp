// Racks of ranks, whose messages to other racks share the links of their rack: the smallest fabric that is
// oversubscribed. No two links need be alike.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "sim/topology/topology.hpp"
#include "tests/sim/topology/listed.hpp"

namespace weft::testing_support {

struct Cable {
    BytesPerSecond up, down;
};

// Rank r's link up is LinkId(2 r), its link down LinkId(2 r + 1); those of the racks come after those of the ranks.
class RacksRouter : public Router {
  public:
    RacksRouter(std::uint32_t ranks, std::uint32_t per_rack) : ranks_(ranks), per_rack_(per_rack) {}
    Route route(RankId from, RankId to, std::uint64_t) const override {
        Route route;
        if (from == to) return route;
        const auto a = static_cast<std::uint32_t>(from) / per_rack_, b = static_cast<std::uint32_t>(to) / per_rack_;
        route.push_back(uplink(from));
        if (a != b) route.push_back(LinkId(2 * (ranks_ + a)));
        if (a != b) route.push_back(LinkId(2 * (ranks_ + b) + 1));
        route.push_back(downlink(to));
        return route;
    }
    LinkId uplink(RankId rank) const override { return LinkId(2 * static_cast<std::uint32_t>(rank)); }
    LinkId downlink(RankId rank) const { return LinkId(2 * static_cast<std::uint32_t>(rank) + 1); }

  private:
    std::uint32_t ranks_, per_rack_;
};

// Every link has the latency. One rack, whose own cables nothing takes, is a crossbar.
inline Topology toy_racks(const std::vector<Cable>& ranks, const std::vector<Cable>& racks, Seconds latency) {
    Topology topology;
    topology.name = "toy racks";
    topology.ranks = static_cast<std::uint32_t>(ranks.size());
    Listed listed;
    const NodeId hub = listed.add_vertex(NodeKind::network_switch);
    std::map<double, LinkClassId> classes;  // by bandwidth
    const auto add = [&](NodeId from, NodeId to, BytesPerSecond bandwidth) {
        const auto [place, is_new] = classes.try_emplace(bandwidth.value);
        if (is_new) place->second = topology.classes.push_back({"toy", bandwidth, bandwidth, latency});
        listed.add_link(from, to, place->second);
    };
    const auto add_cables = [&](const std::vector<Cable>& cables, NodeKind kind) {
        for (const Cable& cable : cables) {
            const NodeId end = listed.add_vertex(kind);
            add(end, hub, cable.up);
            add(hub, end, cable.down);
        }
    };
    add_cables(ranks, NodeKind::accelerator);
    add_cables(racks, NodeKind::network_switch);
    std::move(listed).add_to(topology);
    topology.router =
        std::make_unique<RacksRouter>(topology.ranks, topology.ranks / static_cast<std::uint32_t>(racks.size()));
    return topology;
}

}  // namespace weft::testing_support
