// The smallest machine on which there is a way round.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "sim/topology/topology.hpp"
#include "tests/sim/topology/listed.hpp"

namespace weft::testing_support {

inline constexpr LinkId way_in{0}, direct{1}, first_detour{2};  // and one more link per further detour

// Two nodes with a rank each: a link that all traffic from rank 0 takes, then a direct one, or one of the detours.
class TwoWays : public Router {
  public:
    explicit TwoWays(std::uint32_t detours) : detours_(detours) {}
    Route route(RankId, RankId, std::uint64_t) const override { return over(direct); }
    LinkId uplink(RankId) const override { return way_in; }
    std::uint32_t detours(RankId, RankId) const override { return detours_; }
    Route detour(RankId, RankId, std::uint64_t, std::uint32_t i) const override {
        return over(LinkId(static_cast<std::uint32_t>(first_detour) + i));
    }

  private:
    static Route over(LinkId link) {
        Route route;
        route.push_back(way_in);
        route.push_back(link);
        return route;
    }
    std::uint32_t detours_;
};

// Links of 1 us; 3 us on a detour.
inline Topology two_ways(Routing routing, BytesPerSecond in, BytesPerSecond round, std::uint32_t detours) {
    Topology topology;
    topology.ranks = 2;
    topology.routing = routing;
    Listed listed;
    const NodeId nic = listed.add_vertex(NodeKind::nic);
    const NodeId near = listed.add_vertex(NodeKind::network_switch);
    const NodeId far = listed.add_vertex(NodeKind::network_switch);
    const auto add = [&](std::string name, BytesPerSecond bandwidth, Seconds latency) {
        const bool first = listed.links() == 0;  // the way in
        listed.add_link(first ? nic : near, first ? near : far,
                        topology.classes.push_back({std::move(name), bandwidth, bandwidth, latency}));
    };
    add("in", in, 1_us);
    add("direct", 10_GBps, 1_us);
    for (std::uint32_t i = 0; i < detours; ++i) add("detour " + std::to_string(i), round, 3_us);
    std::move(listed).add_to(topology);
    topology.router = std::make_unique<TwoWays>(detours);
    return topology;
}

}  // namespace weft::testing_support
