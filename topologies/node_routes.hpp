// Routes inside one node. All nodes of a machine are equal, so this small table serves every one of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "sim/topology/topology.hpp"
#include "topologies/blocks/block.hpp"

namespace weft {

// Length of a path through the graph of links: fewer hops are better, then a wider bottleneck.
// Taking the widest of the shortest is safe for Dijkstra: of two paths with equal hops the wider stays at least as wide
// when both are extended by the same link.
struct Distance {
    std::uint32_t hops = 0;
    double width = std::numeric_limits<double>::infinity();  // bandwidth of the narrowest link, bytes per second

    bool operator==(const Distance&) const = default;
    friend bool operator<(const Distance& a, const Distance& b) {
        return std::tuple(a.hops, -a.width) < std::tuple(b.hops, -b.width);
    }
    friend Distance operator+(const Distance& a, const Distance& b) {
        return {a.hops + b.hops, std::min(a.width, b.width)};
    }
};

constexpr Distance unreachable{std::numeric_limits<std::uint32_t>::max() / 2, 0.0};

// Between two vertices: fewest hops, then the widest bottleneck, then the lowest vertices, found with Boost.Graph.
// Links are numbered as in NodePlan::links.
class NodeRoutes {
  public:
    NodeRoutes(const NodePlan& plan, const Table<LinkClassId, LinkClass>& classes);  // a connected plan

    const Route& route(std::uint32_t from, std::uint32_t to) const { return routes_[from * vertices_ + to]; }
    // The NIC that an accelerator uses: its own, else that of its package, else the nearest; among equals the one with
    // the fewest users so far, then the first.
    std::uint32_t nic_of(std::uint32_t accelerator) const { return nic_of_[accelerator]; }
    // By how much links move with the routes among `accelerators` and the NICs they use, after each accelerator a has
    // moved to a + by, which exists: each to one of its own and of its class, by its number. Nothing where they do not.
    std::optional<std::vector<std::int32_t>> shifts(std::span<const std::uint32_t> accelerators, std::int64_t by) const;

  private:
    void find_routes_to(std::uint32_t target, const NodePlan& plan, const Table<LinkClassId, LinkClass>& classes);
    void assign_nics(const NodePlan& plan);

    std::uint32_t nic_vertex(std::uint32_t accelerator) const {
        return static_cast<std::uint32_t>(nic_of_.size()) + nic_of(accelerator);
    }

    std::uint32_t vertices_;
    std::vector<LinkClassId> link_class_;
    std::vector<Route> routes_;  // vertices x vertices
    std::vector<std::uint32_t> nic_of_;
};

}  // namespace weft
