#include "tools/output/topology_facts.hpp"

#include <fmt/format.h>

#include <array>
#include <boost/algorithm/string/replace.hpp>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/graphml.hpp>
#include <boost/graph/graphviz.hpp>
#include <sstream>

#include "sim/base/enumerators.hpp"
#include "sim/io/units.hpp"

namespace weft {

namespace {

struct GraphVertex {
    std::string name, kind;
};
struct GraphEdge {
    std::string link_class;
    double nominal = 0, bandwidth = 0, latency = 0;
    std::size_t colour = 0;
};
template <class Direction>
using Graph = boost::adjacency_list<boost::vecS, boost::vecS, Direction, GraphVertex, GraphEdge>;

// What of a topology is drawn.
struct Part {
    std::vector<bool> vertices, links;

    explicit Part(const Topology& topology, bool drawn = false)
        : vertices(topology.vertices(), drawn), links(topology.links(), drawn) {}
};

void add_link(Part& part, const Topology& topology, LinkId link) {
    part.links[index(link)] = true;
    const LinkEnds ends = topology.ends(link);
    part.vertices[index(ends.tail)] = part.vertices[index(ends.head)] = true;
}

// The nodes with their cables into the network, and what lies on routes between their ranks.
Part used_part(const Topology& topology) {
    Part part(topology);
    for (LinkId link{}; index(link) < topology.links(); link = next(link)) {
        if (!topology.joins_switches(link)) add_link(part, topology, link);
    }
    for (NodeId vertex{}; index(vertex) < topology.vertices(); vertex = next(vertex)) {
        if (topology.node_kind(vertex) != NodeKind::network_switch) part.vertices[index(vertex)] = true;
    }
    for (std::uint32_t from = 0; from < topology.ranks; ++from) {
        for (std::uint32_t to = 0; to < topology.ranks; ++to) {
            if (topology.node_of(RankId{from}) == topology.node_of(RankId{to})) continue;
            const Route route = topology.route(RankId{from}, RankId{to});
            for (const LinkId link : route.links()) {
                add_link(part, topology, link);
                add_link(part, topology, topology.wiring->reverse(link));
            }
        }
    }
    return part;
}

// `keep(link)` chooses the links.
template <class G, class Keep>
G graph_of(const Topology& topology, const Part& part, const Keep& keep) {
    G graph;
    const VertexNames names(topology);
    Table<NodeId, std::size_t> place(topology.vertices());
    for (NodeId vertex{}; vertex != place.end_id(); vertex = next(vertex)) {
        if (!part.vertices[index(vertex)]) continue;
        place[vertex] = boost::add_vertex(
            GraphVertex{names[vertex], std::string(enumerator_name(topology.node_kind(vertex)))}, graph);
    }
    for (LinkId link{}; index(link) < topology.links(); link = next(link)) {
        if (!part.links[index(link)] || !keep(link)) continue;
        const LinkClass& c = topology.link(link);
        boost::add_edge(
            place[topology.tail(link)], place[topology.head(link)],
            GraphEdge{c.name, c.nominal.value, c.bandwidth.value, c.latency.value, index(topology.link_class(link))},
            graph);
    }
    return graph;
}

std::string label_of(const Topology& topology, const Part& part) {
    std::uint32_t left_out = 0;
    for (const bool drawn : part.vertices) left_out += drawn ? 0 : 1;
    if (left_out == 0) return topology.name;
    const std::uint32_t all = topology.vertices_of(NodeKind::network_switch);
    return fmt::format("{}\n{} of {} switches: those on routes between these nodes (--all draws all)", topology.name,
                       all - left_out, all);
}

// Inside the quotation marks of a label.
std::string dot_text(std::string_view text) {
    std::string out(text);
    boost::replace_all(out, "\\", "\\\\");
    boost::replace_all(out, "\"", "\\\"");
    boost::replace_all(out, "\n", "\\n");
    return out;
}

std::string vertex_style(const GraphVertex& vertex) {
    if (vertex.kind == "accelerator") return "shape=box, style=filled, fillcolor=\"#cfe2f3\"";
    if (vertex.kind == "nic") return "shape=ellipse, style=filled, fillcolor=\"#fff2cc\"";
    return "shape=hexagon, style=filled, fillcolor=\"#d9ead3\"";
}

// Distinguishable for most colour-blind readers (Okabe and Ito's palette).
constexpr std::array palette{"#000000", "#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7", "#999999"};

}  // namespace

std::string to_graphviz(const Topology& topology, Drawn drawn) {
    const Part part = drawn == Drawn::used ? used_part(topology) : Part(topology, true);
    // Every link has one back; the one that goes up in numbering stands for both.
    const auto graph = graph_of<Graph<boost::undirectedS>>(
        topology, part, [&](LinkId link) { return topology.tail(link) < topology.head(link); });
    std::ostringstream out;
    boost::write_graphviz(
        out, graph,
        [&](std::ostream& text, std::size_t vertex) {
            text << fmt::format("[label=\"{}\", {}]", dot_text(graph[vertex].name), vertex_style(graph[vertex]));
        },
        [&](std::ostream& text, const auto& edge) {
            const GraphEdge& link = graph[edge];
            text << fmt::format("[label=\"{}\\n{}\", color=\"{}\", penwidth={:.1f}]", dot_text(link.link_class),
                                to_text(BytesPerSecond{link.nominal}), palette[link.colour % palette.size()],
                                1.0 + link.nominal / 100e9);
        },
        [&](std::ostream& text) {
            text << fmt::format("label=\"{}\";\nlayout=neato;\noverlap=false;\nsplines=true;\n",
                                dot_text(label_of(topology, part)))
                 << "node [fontname=\"sans-serif\", fontsize=10];\nedge [fontname=\"sans-serif\", fontsize=8];\n";
        });
    return out.str();
}

std::string to_graphml(const Topology& topology) {
    // Bidirectional, because such a graph lists its edges in the order in which they were added: that of the links.
    auto graph = graph_of<Graph<boost::bidirectionalS>>(topology, Part(topology, true), [](LinkId) { return true; });
    boost::dynamic_properties properties;
    properties.property("name", boost::get(&GraphVertex::name, graph));
    properties.property("kind", boost::get(&GraphVertex::kind, graph));
    properties.property("class", boost::get(&GraphEdge::link_class, graph));
    properties.property("nominal_bytes_per_s", boost::get(&GraphEdge::nominal, graph));
    properties.property("bandwidth_bytes_per_s", boost::get(&GraphEdge::bandwidth, graph));
    properties.property("latency_s", boost::get(&GraphEdge::latency, graph));
    std::ostringstream out;
    boost::write_graphml(out, graph, properties, true);
    return out.str();
}

}  // namespace weft
