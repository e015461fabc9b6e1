// The graph of a topology without its dead links: what is left, who reaches whom, and the shortest way.
#pragma once

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "sim/topology/topology.hpp"

namespace weft {

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

    // What is wrong where no way is left between two ranks.
    std::optional<std::string> parted() const;
    // Fewest links, then the widest; nothing if there is no way, or none that a Route can hold.
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

}  // namespace weft
