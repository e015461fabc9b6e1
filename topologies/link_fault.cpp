#include <fmt/format.h>

#include <algorithm>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <boost/graph/filtered_graph.hpp>
#include <boost/pending/disjoint_sets.hpp>
#include <boost/property_map/function_property_map.hpp>
#include <boost/property_map/property_map.hpp>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "topologies/detour_router.hpp"
#include "topologies/fabric.hpp"
#include "topologies/node_routes.hpp"

namespace weft {

LiveLinks::LiveLinks(const Topology& topology, std::span<const LinkId> dead)
    : ranks_per_node_(topology.ranks_per_node),
      tail_(topology.links()),
      head_(topology.links()),
      endpoint_(topology.ranks),
      dead_(topology.links()) {
    for (LinkId link{}; link != tail_.end_id(); link = next(link)) {
        const LinkEnds ends = topology.ends(link);
        tail_[link] = ends.tail;
        head_[link] = ends.head;
    }
    for (RankId rank{}; rank != endpoint_.end_id(); rank = next(rank)) endpoint_[rank] = topology.endpoint(rank);
    node_vertices_ = (topology.vertices() - topology.vertices_of(NodeKind::network_switch)) / nodes();
    std::set<std::uint32_t> crippled;
    for (const LinkId link : dead) {
        dead_[link] = 1;
        for (const NodeId end : {tail_[link], head_[link]}) {
            if (of_node(end)) crippled.insert(static_cast<std::uint32_t>(index(end) / node_vertices_));
        }
    }
    crippled_.assign(crippled.begin(), crippled.end());
    std::vector<std::pair<std::size_t, std::size_t>> ends;
    std::vector<Edge> edges;
    for (LinkId link{}; link != tail_.end_id(); link = next(link)) {
        if (dead_[link] != 0) continue;
        ends.emplace_back(index(tail_[link]), index(head_[link]));
        edges.push_back({link, topology.link(link).bandwidth.value});
    }
    graph_ = Graph(boost::edges_are_unsorted_multi_pass, ends.begin(), ends.end(), edges.begin(), topology.vertices());
}

bool LiveLinks::alive(const Route& route) const {
    return std::ranges::none_of(route.links(), [&](LinkId link) { return dead_[link] != 0; });
}

bool LiveLinks::alive_in_nodes(const Route& route) const {
    return std::ranges::none_of(
        route.links(), [&](LinkId link) { return dead_[link] != 0 && (of_node(tail_[link]) || of_node(head_[link])); });
}

bool LiveLinks::visits_twice(const Route& route) const {
    const auto links = route.links();
    for (std::size_t i = 0; i < links.size(); ++i) {
        for (std::size_t k = i; k < links.size(); ++k) {
            if (head_[links[k]] == tail_[links[i]]) return true;
        }
    }
    return false;
}

bool LiveLinks::is_crippled(RankId rank) const { return std::ranges::binary_search(crippled_, node_of(rank)); }

// By vertex, the number of the piece that it is in: the graph falls apart into pieces where it is cut between nodes and
// network.
std::vector<std::uint32_t> LiveLinks::pieces() const {
    const std::size_t vertices = boost::num_vertices(graph_);
    std::vector<std::uint32_t> rank(vertices), parent(vertices), piece(vertices);
    std::iota(parent.begin(), parent.end(), 0U);
    const auto of_vertex = [](std::vector<std::uint32_t>& values) {
        return boost::make_iterator_property_map(values.begin(), boost::typed_identity_property_map<std::uint32_t>{});
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
std::vector<LiveLinks::Parts> LiveLinks::parts_by_piece(const std::vector<std::uint32_t>& pieces) const {
    std::vector<Parts> parts(pieces.size());
    for (LinkId link{}; link != tail_.end_id(); link = next(link)) {
        if (dead_[link] == 0 && enters_network(link)) {
            parts[pieces[index(tail_[link])]].insert(pieces[index(head_[link])]);
        }
    }
    return parts;
}

// Ranks of different nodes reach each other if they have a piece of the network in common, and of all ranks only a few
// kinds differ in this.
std::optional<std::string> LiveLinks::parted() const {
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

namespace {

struct Arrived {};  // Boost's searches end early by an exception

// Notes the link by which the best path enters each vertex.
template <class Entry>
struct Walk : boost::dijkstra_visitor<> {
    std::size_t target;
    Entry* by;
    Walk(std::size_t end, Entry& entries) : target(end), by(&entries) {}
    template <class Graph>
    void examine_vertex(std::size_t vertex, const Graph&) const {
        if (vertex == target) throw Arrived{};
    }
    template <class Edge, class Graph>
    void edge_relaxed(const Edge& edge, const Graph& graph) const {
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

}  // namespace

std::optional<Route> LiveLinks::shortest(RankId from, RankId to) const {
    if (from == to) return Route{};
    const std::size_t start = index(endpoint_[from]), target = index(endpoint_[to]);
    const Passable passable{node_vertices_, nodes(), node_of(from), node_of(to)};
    const boost::filtered_graph<Graph, boost::keep_all, Passable> graph(graph_, boost::keep_all{}, passable);
    const auto length =
        boost::make_function_property_map<Graph::edge_descriptor>([&](const Graph::edge_descriptor& edge) {
            return Distance{1, graph_[edge].bandwidth};
        });
    using Entry = Table<NodeId, LinkId>;
    Entry by(boost::num_vertices(graph_));
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
                                           .visitor(Walk<Entry>(target, by)));
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

namespace {

LinkId link_of(const Topology& topology, const NicCable& cable) {
    const std::uint32_t nodes = topology.ranks / topology.ranks_per_node;
    const std::uint32_t nics = topology.vertices_of(NodeKind::nic) / nodes;
    if (cable.node >= nodes) throw RangeError(fmt::format("nodes are 0 to {}, not {}", nodes - 1, cable.node));
    if (cable.nic >= nics) {
        throw RangeError(fmt::format("a node of {} has NICs 0 to {}, not {}", topology.name, nics - 1, cable.nic));
    }
    return topology.wiring->port(cable.node * nics + cable.nic);
}

std::vector<LinkId> links_in_one_direction(const Topology& topology, const RouteCables& cables) {
    for (const RankId rank : {cables.from, cables.to}) {
        if (index(rank) >= topology.ranks) {
            throw RangeError(fmt::format("ranks are 0 to {}, not {}", topology.ranks - 1, index(rank)));
        }
    }
    if (cables.from == cables.to) throw RangeError(fmt::format("rank {} needs no link to itself", index(cables.to)));
    std::vector<LinkId> links;
    std::vector<std::string> classes;  // along the route, each once
    const Route route = topology.route(cables.from, cables.to);
    for (const LinkId link : route.links()) {
        const std::string& name = topology.intact_link(link).name;
        if (std::ranges::find(classes, name) == classes.end()) classes.push_back(name);
        if (cables.link_class.empty() || name == cables.link_class) links.push_back(link);
    }
    if (links.empty()) {
        throw RangeError(fmt::format("the route from rank {} to rank {} has no link of class \"{}\" (it has {})",
                                     index(cables.from), index(cables.to), cables.link_class,
                                     fmt::join(classes, ", ")));
    }
    return links;
}

// Dead links keep a rate, which nothing asks for: nothing crosses them, and a rate of 0 would have no utilization.
LinkClassId faulty_class(Topology& topology, LinkClassId intact, double share) {
    LinkClass faulty = topology.classes[intact];
    faulty.name += share == 0.0 ? " (dead)" : fmt::format(" (x {})", share);
    if (share > 0.0) faulty.bandwidth *= share;
    faulty.intact = intact;
    for (LinkClassId id{}; id != topology.classes.end_id(); id = next(id)) {
        if (topology.classes[id].intact == intact && topology.classes[id].name == faulty.name) return id;
    }
    constexpr std::size_t most_classes = 255;  // of a LinkClassId
    if (topology.classes.size() >= most_classes) {
        throw RangeError(fmt::format("at most {} classes of links, those of faults included", most_classes));
    }
    return topology.classes.push_back(std::move(faulty));
}

}  // namespace

std::vector<LinkId> links_of(const Topology& topology, const LinkFault& fault) {
    std::vector<LinkId> links;
    if (const NicCable* cable = std::get_if<NicCable>(&fault.where)) {
        links.push_back(link_of(topology, *cable));
    } else {
        links = links_in_one_direction(topology, std::get<RouteCables>(fault.where));
    }
    const std::size_t in_one_direction = links.size();
    for (std::size_t i = 0; i < in_one_direction; ++i) links.push_back(topology.wiring->reverse(links[i]));
    std::ranges::sort(links);
    return links;
}

void add_link_faults(Topology& topology, std::span<const LinkFault> faults) {
    std::map<LinkId, double> shares;
    for (const LinkFault& fault : faults) {
        if (!(fault.share >= 0.0 && fault.share <= 1.0)) {
            throw RangeError(fmt::format("a link has a share of its bandwidth left from 0 to 1, not {}", fault.share));
        }
        for (const LinkId link : links_of(topology, fault)) {
            const auto [found, is_new] = shares.try_emplace(link, fault.share);
            found->second = std::min(found->second, fault.share);
        }
    }
    std::vector<LinkId> faulty, dead;
    for (const auto& [link, share] : shares) {
        if (share == 1.0) continue;
        topology.node_links = 0;
        topology.set_class(link, faulty_class(topology, topology.link_class(link), share));
        faulty.push_back(link);
        if (share == 0.0) dead.push_back(link);
    }
    if (faulty.empty()) return;
    LiveLinks sound(topology, faulty);
    topology.crippled_nodes = sound.crippled_nodes();
    if (dead.size() < faulty.size() && !sound.parted())
        topology.around = std::make_unique<DetourRouter>(topology.router, std::move(sound));
    if (dead.empty()) return;
    LiveLinks live(topology, dead);
    if (const std::optional<std::string> parted = live.parted()) throw RangeError(*parted);
    topology.router = std::make_unique<DetourRouter>(topology.router, std::move(live));
}

}  // namespace weft
