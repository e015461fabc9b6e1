// Routes inside one node. All nodes of a machine are equal, so this small table serves every one of them.
#pragma once

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
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
    // Of a connected plan.
    NodeRoutes(const NodePlan& plan, const Table<LinkClassId, LinkClass>& classes)
        : vertices_(plan.vertices()), routes_(std::size_t{vertices_} * vertices_) {
        for (const BlockLink& link : plan.links) link_class_.push_back(link.link_class);
        for (std::uint32_t target = 0; target < vertices_; ++target) find_routes_to(target, plan, classes);
        assign_nics(plan);
    }

    const Route& route(std::uint32_t from, std::uint32_t to) const { return routes_[from * vertices_ + to]; }
    // The NIC that an accelerator uses: its own, else that of its package, else the nearest; among equals the one with
    // the fewest users so far, then the first.
    std::uint32_t nic_of(std::uint32_t accelerator) const { return nic_of_[accelerator]; }

    // By how much links move with the routes among `accelerators` and the NICs they use, after each accelerator a has
    // moved to a + by, which exists: each to one of its own and of its class, by its number. Nothing where they do not.
    std::optional<std::vector<std::int32_t>> shifts(std::span<const std::uint32_t> accelerators,
                                                    std::int64_t by) const {
        constexpr std::int32_t unknown = std::numeric_limits<std::int32_t>::max();
        std::vector<std::int32_t> forth(link_class_.size(), unknown), back(forth);
        const auto follows = [&](const Route& route, const Route& moved) {
            if (route.hops != moved.hops) return false;
            for (std::size_t i = 0; i < route.hops; ++i) {
                const std::size_t from = index(route.hop[i]), to = index(moved.hop[i]);
                const auto shift = static_cast<std::int32_t>(to) - static_cast<std::int32_t>(from);
                if (forth[from] == unknown) forth[from] = shift;
                if (back[to] == unknown) back[to] = shift;
                if (link_class_[from] != link_class_[to] || forth[from] != shift || back[to] != shift) return false;
            }
            return true;
        };
        const auto after = [&](std::uint32_t a) { return static_cast<std::uint32_t>(a + by); };
        for (const std::uint32_t a : accelerators) {
            for (const std::uint32_t b : accelerators) {
                const std::uint32_t nic = nic_vertex(b), nic_after = nic_vertex(after(b));
                if (!follows(route(a, b), route(after(a), after(b))) ||
                    !follows(route(a, nic), route(after(a), nic_after)) ||
                    !follows(route(nic, a), route(nic_after, after(a)))) {
                    return {};
                }
            }
        }
        std::ranges::replace(forth, unknown, 0);
        return forth;
    }

  private:
    static std::vector<Distance> distances_to(std::uint32_t target, const NodePlan& plan,
                                              const Table<LinkClassId, LinkClass>& classes) {
        using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property,
                                            boost::property<boost::edge_weight_t, Distance>>;
        Graph reversed(plan.vertices());
        for (const BlockLink& link : plan.links) {
            boost::add_edge(link.head, link.tail, Distance{1, classes[link.link_class].bandwidth.value}, reversed);
        }
        std::vector<Distance> distance(plan.vertices());
        boost::dijkstra_shortest_paths(
            reversed, target,
            boost::distance_map(
                boost::make_iterator_property_map(distance.begin(), boost::get(boost::vertex_index, reversed)))
                .distance_compare(std::less<Distance>())
                .distance_combine(std::plus<Distance>())
                .distance_inf(unreachable)
                .distance_zero(Distance{}));
        return distance;
    }

    // Walks from every vertex along links that keep the best distance, always to the lowest vertex that does.
    void find_routes_to(std::uint32_t target, const NodePlan& plan, const Table<LinkClassId, LinkClass>& classes) {
        const std::vector<Distance> distance = distances_to(target, plan, classes);
        for (std::uint32_t from = 0; from < vertices_; ++from) {
            Route& route = routes_[from * vertices_ + target];
            Distance left = distance[from];  // hops still to go, and the width that they must keep
            for (std::uint32_t here = from; here != target; --left.hops) {
                const BlockLink* best = nullptr;
                for (const BlockLink& link : plan.links) {
                    if (link.tail != here || distance[link.head].hops + 1 != left.hops) continue;
                    if (classes[link.link_class].bandwidth.value < left.width) continue;
                    if (distance[link.head].width < left.width) continue;
                    if (best == nullptr || link.head < best->head) best = &link;
                }
                WEFT_CHECK(best != nullptr, "a node block that was read is connected");
                route.push_back(LinkId(static_cast<std::uint32_t>(best - plan.links.data())));
                here = best->head;
            }
        }
    }

    void assign_nics(const NodePlan& plan) {
        std::vector<std::uint32_t> users(plan.nics.size());
        const auto package = [&](std::uint32_t accelerator) { return accelerator / plan.accelerators_per_package; };
        for (std::uint32_t accelerator = 0; accelerator < plan.accelerators; ++accelerator) {
            const auto cost = [&](std::uint32_t nic) {
                const std::uint32_t owner = plan.nics[nic];
                return std::tuple(owner != accelerator, package(owner) != package(accelerator),
                                  route(accelerator, plan.nic_vertex(nic)).hops, users[nic], nic);
            };
            std::uint32_t best = 0;
            for (std::uint32_t nic = 1; nic < plan.nics.size(); ++nic) {
                if (cost(nic) < cost(best)) best = nic;
            }
            ++users[best];
            nic_of_.push_back(best);
        }
    }

    std::uint32_t nic_vertex(std::uint32_t accelerator) const {
        return static_cast<std::uint32_t>(nic_of_.size()) + nic_of(accelerator);
    }

    std::uint32_t vertices_;
    std::vector<LinkClassId> link_class_;
    std::vector<Route> routes_;  // vertices x vertices
    std::vector<std::uint32_t> nic_of_;
};

}  // namespace weft
