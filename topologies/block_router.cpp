#include "topologies/block_router.hpp"

#include <algorithm>
#include <array>
#include <boost/container/small_vector.hpp>

namespace weft {
namespace {

// The wires of a machine built of blocks: those of its nodes, of its ports and of its network.
class BlockWiring final : public Wiring {
  public:
    BlockWiring(Numbering numbering, std::vector<BlockLink> node_links, std::unique_ptr<const Network> network,
                Seating seating)
        : numbering_(numbering),
          node_links_(std::move(node_links)),
          network_(std::move(network)),
          seating_(std::move(seating)) {}

    LinkEnds ends(LinkId link) const override {
        const auto number = static_cast<std::uint32_t>(link);
        if (number < numbering_.first_port()) {
            const std::uint32_t node = number / numbering_.node_links;
            const BlockLink& own = node_links_[number % numbering_.node_links];
            return {numbering_.vertex(node, own.tail), numbering_.vertex(node, own.head)};
        }
        if (number < numbering_.first_of_network()) return port_ends(number - numbering_.first_port());
        const SwitchPair pair = network_->ends(LinkId(number - numbering_.first_of_network()));
        return {numbering_.network_switch(pair.tail), numbering_.network_switch(pair.head)};
    }

    // Links of nodes and ports come in pairs, and there is an even number of them.
    LinkId reverse(LinkId link) const override {
        const auto number = static_cast<std::uint32_t>(link);
        if (number < numbering_.first_of_network()) return reverse_of(link);
        return numbering_.network_link(network_->reverse(LinkId(number - numbering_.first_of_network())));
    }
    bool joins_switches(LinkId link) const override {
        return static_cast<std::uint32_t>(link) >= numbering_.first_of_network();
    }
    LinkId port(std::uint32_t nic) const override {
        return numbering_.up({nic / numbering_.nics, nic % numbering_.nics});
    }
    std::string switch_name(std::uint32_t number) const override { return network_->name(number); }

    // Ports, and then those of the network.
    std::vector<LinkMatrix> matrices() const override {
        std::vector<LinkMatrix> all{{.title = "Between nodes and the network",
                                     .row = "NIC",
                                     .column = "node",
                                     .rows = numbering_.nics,
                                     .columns = numbering_.nodes,
                                     .to_column = "in",
                                     .to_row = "out"}};
        for (LinkMatrix& each : network_->matrices()) all.push_back(std::move(each));
        return all;
    }

    std::optional<MatrixPlace> place(LinkId link) const override {
        const auto number = static_cast<std::uint32_t>(link);
        if (number < numbering_.first_port()) return std::nullopt;
        if (number < numbering_.first_of_network()) {
            const std::uint32_t port_link = number - numbering_.first_port(), cable = port_link / 2;
            return MatrixPlace{.row = cable % numbering_.nics,
                               .column = cable / numbering_.nics,
                               .direction = port_link % 2 == 0 ? MatrixDirection::to_row : MatrixDirection::to_column};
        }
        MatrixPlace place = network_->place(LinkId(number - numbering_.first_of_network()));
        ++place.matrix;
        return place;
    }

  private:
    LinkEnds port_ends(std::uint32_t port_link) const {
        const std::uint32_t cable = port_link / 2;
        const Port port{cable / numbering_.nics, cable % numbering_.nics};
        const NodeId below = numbering_.vertex(port.node, numbering_.accelerators + port.nic);
        const NodeId leaf = numbering_.network_switch(network_->leaf(seating_.of(port)));
        return port_link % 2 == 0 ? LinkEnds{below, leaf} : LinkEnds{leaf, below};
    }

    Numbering numbering_;
    std::vector<BlockLink> node_links_;
    std::unique_ptr<const Network> network_;
    Seating seating_;
};

// Most groups are two ranks, or one on each of many nodes.
template <class T>
using Few = boost::container::small_vector<T, 8>;

template <class T>
std::span<const T> view(const Few<T>& few) {
    return {few.data(), few.size()};
}

void add_new(Few<std::uint32_t>& set, std::uint32_t number) {
    if (std::ranges::find(set, number) == set.end()) set.push_back(number);
}

std::uint32_t shifted(std::uint32_t number, std::int64_t by) { return static_cast<std::uint32_t>(number + by); }

void add_nodes(Topology& topology, const Numbering& numbering, const NodePlan& plan) {
    std::vector<NodeKind> kinds;
    for (std::uint32_t i = 0; i < plan.vertices(); ++i) kinds.push_back(plan.kind(i));
    const auto classes = list_of<LinkClassId>(plan.links, &BlockLink::link_class);
    topology.add_vertices(kinds, numbering.nodes);
    topology.add_links(classes, numbering.nodes);
}

void add_network(Topology& topology, const Numbering& numbering, const Network& network) {
    topology.add_vertices(std::array{NodeKind::network_switch}, network.switches());
    topology.add_links(std::array{network.port_class()}, 2 * numbering.nodes * numbering.nics);
    for (const LinkRun& run : network.links()) topology.add_links(std::array{run.link_class}, run.links);
}

}  // namespace

void BlockRouter::add_inside(Route& route, std::uint32_t node, std::uint32_t from, std::uint32_t to) const {
    for (const LinkId link : routes_.route(from, to).links()) route.push_back(numbering_.link(node, link));
}

Route BlockRouter::route(RankId from, RankId to, std::uint64_t salt) const {
    const Port out = port(from, to), in = port(to);
    if (out.node != in.node)
        return through(from, out, to, in, network_->route(seat(out), seat(in), salt_between(out, in, salt)));
    Route route;
    add_inside(route, in.node, local(from), local(to));
    return route;
}

Route BlockRouter::detour(RankId from, RankId to, std::uint64_t salt, std::uint32_t i) const {
    const Port out = port(from, to), in = port(to);
    return through(from, out, to, in, network_->detour(seat(out), seat(in), salt_between(out, in, salt), i));
}

// All leave and enter the nodes by the same links.
void BlockRouter::add_detours(RankId from, RankId to, std::uint64_t salt, std::vector<LinkTimes>& links) const {
    const std::uint32_t count = detours(from, to);
    if (count == 0) return;
    const Port out = port(from, to), in = port(to);
    const std::size_t first = links.size();
    network_->add_detours(seat(out), seat(in), salt_between(out, in, salt), links);
    for (LinkTimes& each : std::span(links).subspan(first)) each.link = numbering_.network_link(each.link);
    const Route ends = through(from, out, to, in, {});
    for (const LinkId link : ends.links()) links.push_back({link, count});
}

std::optional<LinkMove> BlockRouter::move(std::span<const RankId> ranks, std::int32_t by) const {
    const std::optional<Steps> steps = steps_of(ranks, by);
    if (!steps) return {};
    std::optional<std::vector<std::int32_t>> inside(std::in_place);
    if (steps->locals != 0) {
        Few<std::uint32_t> locals;
        for (const RankId rank : ranks) add_new(locals, local(rank));
        inside = routes_.shifts(view(locals), steps->locals);
        if (!inside) return {};
    }
    LinkMove move(by);
    move.add_stretch(LinkId{0}, steps->nodes * numbering_.node_links, *inside);
    const bool in_one_node = std::ranges::all_of(ranks, [&](RankId rank) { return node(rank) == node(ranks.front()); });
    return in_one_node || add_network(move, ranks, *steps) ? std::optional(std::move(move)) : std::nullopt;
}

// How links of ports and of the network move, if they do. Where the receiver chooses the NIC, messages leave and enter
// by NICs of one number, and may do so by any that the ranks have; elsewhere they may go between any of their ports.
bool BlockRouter::add_network(LinkMove& move, std::span<const RankId> ranks, const Steps& steps) const {
    const auto nic_after = [&](RankId rank) { return routes_.nic_of(shifted(local(rank), steps.locals)); };
    const std::int64_t nic_step = std::int64_t{nic_after(ranks.front())} - port(ranks.front()).nic;
    move.add_stretch(numbering_.up({0, 0}), 2 * (steps.nodes * numbering_.nics + nic_step));
    Few<std::uint32_t> nics;
    Few<Port> before;
    for (const RankId rank : ranks) {
        const Port own = port(rank);
        if (std::int64_t{nic_after(rank)} - own.nic != nic_step) return false;
        add_new(nics, own.nic);
        // Members of a node mostly follow one another.
        if (pxn_ == Pxn::off || before.empty() || before.back().node != own.node) before.push_back(own);
    }
    if (pxn_ == Pxn::off) return add_shifts(move, view(before), steps.nodes, nic_step);
    LinkMove longest = move;
    for (const std::uint32_t nic : nics) {
        for (Port& each : before) each.nic = nic;
        LinkMove one = move;
        if (!add_shifts(one, view(before), steps.nodes, nic_step) || !longest.join(one)) return false;
    }
    move = std::move(longest);
    return true;
}

// Hashes do not move with ports: of a network that hashes nothing is known.
bool BlockRouter::add_shifts(LinkMove& move, std::span<const Port> ports, std::int64_t nodes, std::int64_t nics) const {
    Few<Port> here, after;
    for (const Port port : ports) {
        here.push_back(seat(port));
        after.push_back(seat({shifted(port.node, nodes), shifted(port.nic, nics)}));
    }
    const auto shifts = seating_.hash_seed ? network_->Network::shifts(view(here), view(after))
                                           : network_->shifts(view(here), view(after));
    if (!shifts) return false;
    for (const LinkShift& shift : *shifts) {
        move.add_stretch(numbering_.network_link(shift.first), shift.by, shift.each);
    }
    return true;
}

std::uint64_t BlockRouter::residue(std::span<const RankId> ranks) const {
    const Port first = port(ranks.front());
    const bool leaves = std::ranges::any_of(ranks, [&](RankId rank) {
        return node(rank) != first.node && network_->leaf(seat({node(rank), first.nic})) != network_->leaf(seat(first));
    });
    if (!leaves) return 0;
    return seating_.hash_seed ? network_->Network::residue(seat(first)) : network_->residue(seat(first));
}

// Of ranks that all move by as much, and to where there are ranks.
std::optional<BlockRouter::Steps> BlockRouter::steps_of(std::span<const RankId> ranks, std::int64_t by) const {
    const std::int64_t n = numbering_.accelerators, all = n * numbering_.nodes;
    const auto place = [](RankId rank) { return std::int64_t{static_cast<std::uint32_t>(rank)}; };
    const std::int64_t nodes = (place(ranks.front()) + by) / n - place(ranks.front()) / n;
    const bool moves = std::ranges::all_of(ranks, [&](RankId rank) {
        const std::int64_t after = place(rank) + by;
        return after >= 0 && after < all && after / n - place(rank) / n == nodes;
    });
    return moves ? std::optional(Steps{.nodes = nodes, .locals = by - nodes * n}) : std::nullopt;
}

// Out of one node, `between` the leaves, and into the other node.
Route BlockRouter::through(RankId from, Port out, RankId to, Port in, const Route& between) const {
    Route route;
    add_inside(route, out.node, local(from), numbering_.accelerators + out.nic);
    route.push_back(numbering_.up(out));
    for (const LinkId link : between.links()) route.push_back(numbering_.network_link(link));
    route.push_back(numbering_.down(in));
    add_inside(route, in.node, numbering_.accelerators + in.nic, local(to));
    return route;
}

Topology build_topology(std::string name, std::uint32_t nodes, const NodePlan& plan,
                        const Table<LinkClassId, LinkClass>& classes, std::unique_ptr<const Network> network,
                        Seating seating) {
    const Numbering numbering{.nodes = nodes,
                              .accelerators = plan.accelerators,
                              .nics = static_cast<std::uint32_t>(plan.nics.size()),
                              .node_vertices = plan.vertices(),
                              .node_links = static_cast<std::uint32_t>(plan.links.size())};
    Topology topology;
    topology.name = std::move(name);
    topology.ranks = nodes * plan.accelerators;
    topology.ranks_per_node = plan.accelerators;
    topology.node_vertices = numbering.node_vertices;
    topology.node_links = numbering.node_links;
    topology.classes = classes;
    add_nodes(topology, numbering, plan);
    add_network(topology, numbering, *network);
    topology.router = std::make_unique<BlockRouter>(numbering, plan, classes, *network, seating);
    topology.wiring = std::make_unique<BlockWiring>(numbering, plan.links, std::move(network), std::move(seating));
    return topology;
}

}  // namespace weft
