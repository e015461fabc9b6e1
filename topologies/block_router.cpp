#include "topologies/block_router.hpp"

namespace weft {

namespace {

void add_link(Topology& topology, NodeId tail, NodeId head, LinkClassId link_class) {
    topology.tail.push_back(tail);
    topology.head.push_back(head);
    topology.link_class.push_back(link_class);
}

void add_node(Topology& topology, const Numbering& numbering, std::uint32_t node, const NodePlan& plan) {
    for (std::uint32_t i = 0; i < plan.vertices(); ++i) topology.node_kind.push_back(plan.kind(i));
    for (std::uint32_t i = 0; i < plan.accelerators; ++i) topology.endpoint.push_back(numbering.vertex(node, i));
    for (const BlockLink& link : plan.links) {
        add_link(topology, numbering.vertex(node, link.tail), numbering.vertex(node, link.head), link.link_class);
    }
}

void add_ports(Topology& topology, const Numbering& numbering, const NodePlan& plan, const Network& network) {
    for (std::uint32_t node = 0; node < numbering.nodes; ++node) {
        for (std::uint32_t nic = 0; nic < numbering.nics; ++nic) {
            const NodeId below = numbering.vertex(node, plan.nic_vertex(nic));
            const NodeId leaf = numbering.network_switch(network.leaf({node, nic}));
            add_link(topology, below, leaf, network.port_class());
            add_link(topology, leaf, below, network.port_class());
        }
    }
}

void add_network(Topology& topology, const Numbering& numbering, const Network& network) {
    for (std::uint32_t i = 0; i < network.switches(); ++i) topology.node_kind.push_back(NodeKind::network_switch);
    for (const BlockLink& link : network.links()) {
        add_link(topology, numbering.network_switch(link.tail), numbering.network_switch(link.head), link.link_class);
    }
}

}  // namespace

void BlockRouter::add_inside(Route& route, std::uint32_t node, std::uint32_t from, std::uint32_t to) const {
    for (const LinkId link : routes_.route(from, to).links()) route.push_back(numbering_.link(node, link));
}

Route BlockRouter::route(RankId from, RankId to, std::uint64_t salt) const {
    Route route;
    if (node(from) == node(to)) {
        add_inside(route, node(from), local(from), local(to));
        return route;
    }
    return through(from, to, network_->route(port(from, to), port(to), salt));
}

Route BlockRouter::detour(RankId from, RankId to, std::uint64_t salt, std::uint32_t i) const {
    return through(from, to, network_->detour(port(from, to), port(to), salt, i));
}

// Out of one node, `between` the leaves, and into the other node.
Route BlockRouter::through(RankId from, RankId to, const Route& between) const {
    Route route;
    const Port leave = port(from, to), enter = port(to);
    const std::uint32_t first_nic = numbering_.accelerators;
    add_inside(route, leave.node, local(from), first_nic + leave.nic);
    route.push_back(numbering_.up(leave));
    for (const LinkId link : between.links()) route.push_back(numbering_.network_link(link));
    route.push_back(numbering_.down(enter));
    add_inside(route, enter.node, first_nic + enter.nic, local(to));
    return route;
}

Topology build_topology(std::string name, std::uint32_t nodes, const NodePlan& plan,
                        const Table<LinkClassId, LinkClass>& classes, std::unique_ptr<const Network> network) {
    const Numbering numbering{.nodes = nodes,
                              .accelerators = plan.accelerators,
                              .nics = static_cast<std::uint32_t>(plan.nics.size()),
                              .node_vertices = plan.vertices(),
                              .node_links = static_cast<std::uint32_t>(plan.links.size())};
    Topology topology;
    topology.name = std::move(name);
    topology.ranks = nodes * plan.accelerators;
    topology.ranks_per_node = plan.accelerators;
    topology.node_links = numbering.node_links;
    topology.classes = classes;
    for (std::uint32_t node = 0; node < nodes; ++node) add_node(topology, numbering, node, plan);
    add_ports(topology, numbering, plan, *network);
    add_network(topology, numbering, *network);
    topology.router = std::make_unique<BlockRouter>(numbering, NodeRoutes(plan, classes), plan.pxn, std::move(network));
    return topology;
}

}  // namespace weft
