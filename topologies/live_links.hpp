// What is left of a topology where links are dead.
#pragma once

#include <fmt/format.h>
#include <algorithm>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <boost/graph/filtered_graph.hpp>
#include <boost/pending/disjoint_sets.hpp>
#include <boost/property_map/function_property_map.hpp>
#include <boost/property_map/property_map.hpp>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/topology/topology.hpp"
#include "topologies/node_routes.hpp"

namespace weft {

// The graph of a topology without its dead links: what is left, who reaches whom, and the shortest route.
// Keeps what it needs of the topology. Traffic passes through the nodes of its two ends and through switches of the
// network, never through a third node.
class LiveLinks {
  public:
    // Cables die whole: `dead` has both directions of each.
    LiveLinks(const Topology& topology, std::span<const LinkId> dead)
        : ranks_per_node_(topology.ranks_per_node),
          node_vertices_(topology.node_vertices),
          tail_(topology.links()),
          head_(topology.links()),
          endpoint_(topology.ranks),
          dead_(topology.links()) {
        for (const LinkId link : dead) dead_[link] = 1;
        std::vector<std::pair<std::size_t, std::size_t>> ends;
        std::vector<Edge> edges;
        for (LinkId link{}; link != tail_.end_id(); link = next(link)) {
            const LinkEnds own = topology.ends(link);
            tail_[link] = own.tail;
            head_[link] = own.head;
            if (dead_[link] != 0) continue;
            ends.emplace_back(index(own.tail), index(own.head));
            edges.push_back({link, topology.link(link).bandwidth.value});
        }
        for (RankId rank{}; rank != endpoint_.end_id(); rank = next(rank)) endpoint_[rank] = topology.endpoint(rank);
        std::set<std::uint32_t> crippled;
        for (const LinkId link : dead) {
            for (const NodeId end : {tail_[link], head_[link]}) {
                if (of_node(end)) crippled.insert(static_cast<std::uint32_t>(index(end) / node_vertices_));
            }
        }
        crippled_.assign(crippled.begin(), crippled.end());
        graph_ =
            Graph(boost::edges_are_unsorted_multi_pass, ends.begin(), ends.end(), edges.begin(), topology.vertices());
    }

    bool alive(const Route& route) const {
        return std::ranges::none_of(route.links(), [&](LinkId link) { return dead_[link] != 0; });
    }
    // The same, whatever lies between switches of the network.
    bool alive_in_nodes(const Route& route) const {
        return std::ranges::none_of(route.links(), [&](LinkId link) {
            return dead_[link] != 0 && (of_node(tail_[link]) || of_node(head_[link]));
        });
    }

    // Whether it comes to a vertex twice.
    bool visits_twice(const Route& route) const {
        const auto links = route.links();
        for (std::size_t i = 0; i < links.size(); ++i) {
            for (std::size_t k = i; k < links.size(); ++k) {
                if (head_[links[k]] == tail_[links[i]]) return true;
            }
        }
        return false;
    }

    // In them, or between them and the network, a link is dead; ascending.
    const std::vector<std::uint32_t>& crippled_nodes() const { return crippled_; }
    bool is_crippled(RankId rank) const { return std::ranges::binary_search(crippled_, node_of(rank)); }
    std::uint32_t ranks() const { return static_cast<std::uint32_t>(endpoint_.size()); }
    std::uint32_t ranks_per_node() const { return ranks_per_node_; }
    std::uint32_t node_of(RankId rank) const { return static_cast<std::uint32_t>(rank) / ranks_per_node_; }
    bool enters_network(LinkId link) const { return of_node(tail_[link]) && !of_node(head_[link]); }
    bool leaves_network(LinkId link) const { return !of_node(tail_[link]) && of_node(head_[link]); }

    // What is wrong where no route is left between two ranks.
    // Ranks of different nodes reach each other if they have a piece of the network in common, and of all ranks only a
    // few kinds differ in this.
    std::optional<std::string> parted() const {
        const std::vector<std::uint32_t> piece = pieces();
        const std::vector<Parts> parts = parts_by_piece(piece);
        const auto apart = [&](RankId a, RankId b) {
            return fmt::format("no way is left between rank {} (node {}) and rank {} (node {}): dead links part them",
                               index(a), node_of(a), index(b), node_of(b));
        };
        const auto meet = [](const Parts& a, const Parts& b) {
            return std::ranges::any_of(a, [&](std::uint32_t part) { return b.contains(part); });
        };
        std::map<Parts, RankId> kinds;  // with the first rank of each
        for (RankId rank{}; rank != endpoint_.end_id(); rank = next(rank)) {
            const std::uint32_t own = piece[index(endpoint_[rank])];
            const RankId first{node_of(rank) * ranks_per_node_};
            for (RankId other = first; other != rank; other = next(other)) {
                const std::uint32_t its = piece[index(endpoint_[other])];
                if (its != own && !meet(parts[its], parts[own])) return apart(other, rank);
            }
            if (nodes() > 1) kinds.try_emplace(parts[own], rank);
        }
        for (const auto& [one, a] : kinds) {
            if (one.empty()) return apart(a, RankId(node_of(a) == 0 ? ranks_per_node_ : 0));
            for (const auto& [two, b] : kinds) {
                if (node_of(a) != node_of(b) && !meet(one, two)) return apart(std::min(a, b), std::max(a, b));
            }
        }
        return std::nullopt;
    }

    // Fewest links, then the widest; nothing if there is no route, or none that a Route can hold.
    std::optional<Route> shortest(RankId from, RankId to) const {
        if (from == to) return Route{};
        const std::size_t start = index(endpoint_[from]), target = index(endpoint_[to]);
        const Passable passable{node_vertices_, nodes(), node_of(from), node_of(to)};
        const boost::filtered_graph<Graph, boost::keep_all, Passable> graph(graph_, boost::keep_all{}, passable);
        const auto length =
            boost::make_function_property_map<Graph::edge_descriptor>([&](const Graph::edge_descriptor& edge) {
                return Distance{1, graph_[edge].bandwidth};
            });
        Table<NodeId, LinkId> by(boost::num_vertices(graph_));
        std::vector<Distance> distance(by.size());
        try {
            boost::dijkstra_shortest_paths(graph, start,
                                           boost::weight_map(length)
                                               .distance_map(boost::make_iterator_property_map(
                                                   distance.begin(), boost::get(boost::vertex_index, graph_)))
                                               .distance_compare(std::less<Distance>())
                                               .distance_combine(std::plus<Distance>())
                                               .distance_inf(unreachable)
                                               .distance_zero(Distance{})
                                               .visitor(Walk(target, by)));
            return std::nullopt;
        } catch (const Arrived&) {
        }
        if (distance[target].hops > Route::capacity) return std::nullopt;
        Route route;
        for (std::size_t here = target; here != start;) {
            const LinkId link = by[NodeId(static_cast<std::uint32_t>(here))];
            route.push_back(link);
            here = index(tail_[link]);
        }
        std::reverse(route.hop.begin(), route.hop.begin() + route.hops);
        return route;
    }

  private:
    struct Edge {
        LinkId link{};
        double bandwidth = 0.0;  // bytes per second
    };
    using Graph = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, Edge>;
    using Parts = std::set<std::uint32_t>;  // connected parts of the network

    struct Arrived {};  // Boost's searches end early by an exception

    // Notes the link by which the best path enters each vertex.
    struct Walk : boost::dijkstra_visitor<> {
        std::size_t target;
        Table<NodeId, LinkId>* by;
        Walk(std::size_t end, Table<NodeId, LinkId>& entries) : target(end), by(&entries) {}
        template <class AnyGraph>
        void examine_vertex(std::size_t vertex, const AnyGraph&) const {
            if (vertex == target) throw Arrived{};
        }
        template <class AnyEdge, class AnyGraph>
        void edge_relaxed(const AnyEdge& edge, const AnyGraph& graph) const {
            (*by)[NodeId(static_cast<std::uint32_t>(boost::target(edge, graph)))] = graph[edge].link;
        }
    };

    // Vertices of two nodes and of the network.
    struct Passable {
        std::size_t vertices = 1, nodes = 0, one = 0, two = 0;
        bool operator()(std::size_t vertex) const {
            const std::size_t node = vertex / vertices;
            return node >= nodes || node == one || node == two;
        }
    };

    bool of_node(NodeId vertex) const { return index(vertex) < node_vertices_ * nodes(); }
    std::uint32_t nodes() const { return ranks() / ranks_per_node_; }

    // By vertex, the number of the piece that it is in: the graph falls apart into pieces where it is cut between nodes
    // and network.
    std::vector<std::uint32_t> pieces() const {
        const std::size_t vertices = boost::num_vertices(graph_);
        std::vector<std::uint32_t> rank(vertices), parent(vertices), piece(vertices);
        std::iota(parent.begin(), parent.end(), 0U);
        const auto of_vertex = [](std::vector<std::uint32_t>& values) {
            return boost::make_iterator_property_map(values.begin(),
                                                     boost::typed_identity_property_map<std::uint32_t>{});
        };
        boost::disjoint_sets sets(of_vertex(rank), of_vertex(parent));
        for (LinkId link{}; link != tail_.end_id(); link = next(link)) {
            if (dead_[link] != 0 || enters_network(link) || leaves_network(link)) continue;
            sets.union_set(static_cast<std::uint32_t>(tail_[link]), static_cast<std::uint32_t>(head_[link]));
        }
        for (std::uint32_t vertex = 0; vertex < vertices; ++vertex) piece[vertex] = sets.find_set(vertex);
        return piece;
    }

    // The pieces of the network that each piece of a node has a live cable to.
    std::vector<Parts> parts_by_piece(const std::vector<std::uint32_t>& pieces) const {
        std::vector<Parts> parts(pieces.size());
        for (LinkId link{}; link != tail_.end_id(); link = next(link)) {
            if (dead_[link] == 0 && enters_network(link)) {
                parts[pieces[index(tail_[link])]].insert(pieces[index(head_[link])]);
            }
        }
        return parts;
    }

    std::uint32_t ranks_per_node_;
    std::size_t node_vertices_;  // of each node, which come first
    Table<LinkId, NodeId> tail_, head_;
    Table<RankId, NodeId> endpoint_;
    Table<LinkId, std::uint8_t> dead_;
    std::vector<std::uint32_t> crippled_;
    Graph graph_;
};

}  // namespace weft
