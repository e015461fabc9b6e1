// A router that goes around dead links.
#pragma once

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/topology/topology.hpp"

namespace weft {

// The graph of a topology without its dead links: what is left, who reaches whom, and the shortest route.
// Keeps what it needs of the topology. Traffic passes through the nodes of its two ends and through switches of the
// network, never through a third node.
class LiveLinks {
  public:
    // Cables die whole: `dead` has both directions of each.
    LiveLinks(const Topology& topology, std::span<const LinkId> dead);

    bool alive(const Route& route) const;
    bool alive_in_nodes(const Route& route) const;  // whatever lies between switches of the network
    bool visits_twice(const Route& route) const;    // a vertex
    // In them, or between them and the network, a link is dead; ascending.
    const std::vector<std::uint32_t>& crippled_nodes() const { return crippled_; }
    bool is_crippled(RankId rank) const;
    std::uint32_t ranks() const { return static_cast<std::uint32_t>(endpoint_.size()); }
    std::uint32_t ranks_per_node() const { return ranks_per_node_; }
    std::uint32_t node_of(RankId rank) const { return static_cast<std::uint32_t>(rank) / ranks_per_node_; }
    bool enters_network(LinkId link) const { return of_node(tail_[link]) && !of_node(head_[link]); }
    bool leaves_network(LinkId link) const { return !of_node(tail_[link]) && of_node(head_[link]); }

    // What is wrong where no route is left between two ranks.
    std::optional<std::string> parted() const;
    // Fewest links, then the widest; nothing if there is no route, or none that a Route can hold.
    std::optional<Route> shortest(RankId from, RankId to) const;

  private:
    struct Edge {
        LinkId link{};
        double bandwidth = 0.0;  // bytes per second
    };
    using Graph = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, Edge>;
    using Parts = std::set<std::uint32_t>;  // connected parts of the network

    bool of_node(NodeId vertex) const { return index(vertex) < node_vertices_ * nodes(); }
    std::uint32_t nodes() const { return ranks() / ranks_per_node_; }
    std::vector<std::uint32_t> pieces() const;
    std::vector<Parts> parts_by_piece(const std::vector<std::uint32_t>& pieces) const;

    std::uint32_t ranks_per_node_;
    std::size_t node_vertices_ = 0;  // of each node, which come first
    Table<LinkId, NodeId> tail_, head_;
    Table<RankId, NodeId> endpoint_;
    Table<LinkId, std::uint8_t> dead_;
    std::vector<std::uint32_t> crippled_;
    Graph graph_;
};

// Routes stay those of the router inside where they cross nothing dead. Else, in this order:
// - Where the route to the network is dead at one end, messages pass through another accelerator of that node and its
//   NIC: the nearest one that has a live route, and of equally near ones the next by number.
// - Across the network, the routes of the next salts are tried, then the detours.
// - What is left takes the shortest route that there is.
// Detours leave and enter nodes where routes do; a dead one is replaced by the next.
class DetourRouter final : public Router {
  public:
    // Every rank reaches every other one by the live links.
    DetourRouter(std::shared_ptr<const Router> inner, LiveLinks links);

    // Throws RangeError if the route around is longer than Route::capacity.
    Route route(RankId from, RankId to, std::uint64_t salt) const override;
    std::uint32_t detours(RankId from, RankId to) const override;
    Route detour(RankId from, RankId to, std::uint64_t salt, std::uint32_t i) const override;
    LinkId uplink(RankId rank) const override;
    LinkId downlink(RankId rank) const override;

  private:
    // The accelerators between which a message crosses the network.
    struct Gates {
        RankId out{}, in{};
    };
    // The links by which a rank's traffic passes the edge of its node.
    struct Doors {
        LinkId up{}, down{};
    };

    RankId neighbour(RankId rank, std::size_t i) const;  // of the same node; itself, then the nearest
    Route inside(RankId from, RankId to) const;
    std::optional<Route> joined(RankId from, Gates gates, const Route& between, RankId to) const;
    std::optional<Gates> gates(RankId from, RankId to) const;
    std::optional<Route> between(Gates gates, std::uint64_t salt) const;
    Route shortest(RankId from, RankId to) const;
    Doors find_doors(RankId rank) const;
    void list_neighbours();
    void route_inside_crippled_nodes();

    std::shared_ptr<const Router> inner_;
    LiveLinks links_;
    std::vector<std::vector<std::uint32_t>> neighbours_;   // by accelerator of a node
    std::map<std::pair<RankId, RankId>, Route> rerouted_;  // inside nodes, where the inner route is dead
    std::map<RankId, Doors> doors_;                        // of ranks of crippled nodes
};

}  // namespace weft
