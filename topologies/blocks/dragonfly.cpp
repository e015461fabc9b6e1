// A dragonfly: groups of switches, all-to-all inside a group, and a bundle of global links between every two groups.
//
// Numbering, for G groups of S switches with bundles of m links:
//   switch i of group g            g S + i
//   local link i -> j of group g   g S (S-1) + i (S-1) + (j < i ? j : j-1)
//   global link k of g -> h        G S (S-1) + (g (G-1) + (h < g ? h : h-1)) m + k
// Global cable k between g and h is plugged into switch ((h - g - 1 mod G) m + k) mod S of group g: a group's global
// ports are dealt out to its switches in turn, so their numbers differ by one at most.
//
// Routes are minimal: local, global, local, each where needed (three switch-to-switch hops at most; Kim et al.,
// "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA 2008). Hardware that routes adaptively evens out the
// load of a bundle; here its links are dealt out by node, NIC and salt, which does the same for regular traffic.
// Detours between two groups lead through a third (Valiant, SIAM J. Comput. 11 (1982) 350-361; Kim et al. apply it to
// the dragonfly): local, global, local, global, local. A job that spans several groups may take them through any group
// of the machine, so then all groups are built. Inside a group they lead through a third switch, with or
// without nodes of the job, so a group is built whole: two switches have a single cable, which the 16 nodes of a
// chassis that exchange with those of another one would share.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "topologies/blocks/block.hpp"
#include "topologies/blocks/dragonfly_wires.hpp"
#include "topologies/blocks/networks.hpp"

namespace weft::blocks {
namespace {

constexpr std::uint32_t most_inside = 10;  // detours between two switches of a group

struct DragonflyShape {
    std::uint32_t nodes_per_group, switches_per_group;
    std::uint32_t nodes_per_chassis, switches_per_chassis;
    std::uint32_t global_links;
    std::uint32_t nics_per_node;
    LinkClassId port, local, global;
};

class Dragonfly final : public Network {
  public:
    Dragonfly(const DragonflyShape& shape, std::uint32_t nodes, std::uint32_t all_groups)
        : shape_(shape), groups_(nodes <= shape.nodes_per_group ? 1 : all_groups) {}

    std::unique_ptr<const Network> first(std::uint32_t nodes) const override {
        return std::make_unique<Dragonfly>(shape_, nodes, groups_);
    }

    std::uint32_t switches() const override { return groups_ * shape_.switches_per_group; }
    LinkClassId port_class() const override { return shape_.port; }

    std::uint32_t leaf(Port port) const override {
        const std::uint32_t position = port.node % shape_.nodes_per_group;
        return group_of(port.node) * shape_.switches_per_group +
               position / shape_.nodes_per_chassis * shape_.switches_per_chassis +
               port.nic % shape_.switches_per_chassis;
    }

    std::vector<LinkRun> links() const override {
        return {{shape_.local, wires().locals}, {shape_.global, wires().across().links()}};
    }

    SwitchPair ends(LinkId link) const override {
        const auto number = static_cast<std::uint32_t>(link);
        if (number >= wires().locals) return wires().ends(number);
        const AllToAll inside = wires().inside();
        const std::uint32_t first = number / inside.links() * shape_.switches_per_group;
        const AllToAll::Place local = inside.place(number % inside.links());
        return {first + local.from, first + local.to};
    }

    LinkId reverse(LinkId link) const override {
        const auto number = static_cast<std::uint32_t>(link);
        if (number >= wires().locals) return wires().reverse(number);
        const std::uint32_t in_group = number % wires().inside().links();
        return LinkId(number - in_group + wires().inside().reverse(in_group));
    }

    std::string name(std::uint32_t number) const override {
        return fmt::format("group {} switch {}", number / shape_.switches_per_group,
                           number % shape_.switches_per_group);
    }

    std::vector<LinkMatrix> matrices() const override {
        return groups_ == 1 ? Network::matrices() : std::vector{groups_matrix(groups_)};
    }

    MatrixPlace place(LinkId link) const override {
        const SwitchPair pair = ends(link);
        const std::uint32_t size = groups_ == 1 ? 1 : shape_.switches_per_group;
        return {.row = pair.tail / size, .column = pair.head / size};
    }

    Route route(Port from, Port to, std::uint64_t salt) const override {
        Route route;
        std::uint32_t here = leaf(from);
        const std::uint32_t to_group = group_of(to.node);
        if (group_of(from.node) != to_group) here = add_crossing(route, here, to_group, cable_of(from, to, salt));
        add_local(route, here, leaf(to));
        return route;
    }

    std::uint32_t detours(Port from, Port to) const override {
        if (group_of(from.node) != group_of(to.node)) return detours_among(groups_);
        return leaf(from) == leaf(to) ? 0 : detours_inside();
    }

    Route detour(Port from, Port to, std::uint64_t salt, std::uint32_t i) const override {
        return detour(leaf(from), leaf(to), pair_hash(from, to, salt), i);
    }

    void add_detours(Port from, Port to, std::uint64_t salt, std::vector<LinkTimes>& links) const override {
        const std::uint32_t count = detours(from, to), first = leaf(from), last = leaf(to);
        const std::uint64_t pair = pair_hash(from, to, salt);
        for (std::uint32_t i = 0; i < count; ++i) {
            const Route one = detour(first, last, pair, i);
            for (const LinkId link : one.links()) links.push_back({link});
        }
    }

    bool add_exchange(std::span<const PortUse> ports, std::uint64_t salt, Router::Routes routes,
                      const Table<LinkClassId, LinkClass>& classes, ExchangeSink& sink) const override {
        std::vector<DragonflyUse> uses;
        for (const auto& [port, senders, receivers] : ports) {
            uses.push_back({.node = port.node,
                            .leaf = leaf(port),
                            .as_low = as_low(port),
                            .as_high = as_high(port),
                            .senders = 1.0 * senders,
                            .receivers = 1.0 * receivers});
        }
        const auto turn = static_cast<std::uint32_t>(salt / shape_.nics_per_node % shape_.global_links);
        add_dragonfly_exchange(wires(), uses, turn, routes, classes[shape_.local].latency,
                               classes[shape_.global].latency, sink);
        return true;
    }

    std::vector<std::uint32_t> neighbourhoods() const override {
        return {shape_.nodes_per_chassis, shape_.nodes_per_group};
    }

    // Half of the groups against the other half; in a single group, half of its switches against the other half.
    BytesPerSecond bisection(const Table<LinkClassId, LinkClass>& classes) const override {
        const auto pairs = [](std::uint32_t n) { return static_cast<double>(n / 2) * static_cast<double>(n - n / 2); };
        return groups_ > 1 ? classes[shape_.global].nominal * (pairs(groups_) * shape_.global_links)
                           : classes[shape_.local].nominal * pairs(shape_.switches_per_group);
    }

  private:
    std::uint32_t group_of(std::uint32_t node) const { return node / shape_.nodes_per_group; }
    DragonflyWires wires() const { return {groups_, shape_.switches_per_group, shape_.global_links}; }

    // From a switch of one group to the switch of group h where the cable ends, which is returned.
    std::uint32_t add_crossing(Route& route, std::uint32_t from, std::uint32_t h, std::uint32_t cable) const {
        const std::uint32_t g = from / shape_.switches_per_group;
        add_local(route, from, wires().gateway(g, h, cable));
        route.push_back(wires().global(g, h, cable));
        return wires().gateway(h, g, cable);
    }

    // Neighbours in a ring are mostly in one group, and packets of one message go over all of its switches by turns:
    // with few detours those of several messages would meet on one cable.
    std::uint32_t detours_inside() const { return std::min(most_inside, shape_.switches_per_group - 2); }

    // From one switch to another by a third group, or by a third switch of their group: the switches of a group are
    // joined all-to-all, as groups are.
    Route detour(std::uint32_t from, std::uint32_t to, std::uint64_t pair, std::uint32_t i) const {
        const std::uint32_t size = shape_.switches_per_group, from_group = from / size, to_group = to / size;
        Route route;
        if (from_group == to_group) {
            const std::uint32_t middle =
                from_group * size + group_between(from % size, to % size, size, pair, i, detours_inside());
            add_local(route, from, middle);
            add_local(route, middle, to);
            return route;
        }
        const std::uint32_t middle = group_between(from_group, to_group, groups_, pair, i, detours_among(groups_));
        const auto cable = [&](std::uint32_t end) { return cable_between(middle, end, pair, shape_.global_links); };
        const std::uint32_t here = add_crossing(route, from, middle, cable(from_group));
        add_local(route, add_crossing(route, here, to_group, cable(to_group)), to);
        return route;
    }

    void add_local(Route& route, std::uint32_t a, std::uint32_t b) const {
        if (a != b) route.push_back(wires().local(a, b));
    }

    // Both directions of a pair use the same cable. Cables are dealt out to the ports of the lower node's group one by
    // one, each round starting one cable later, and shifted with the other node: the NICs of a node get different
    // cables, and traffic that moves in step over all nodes loads every cable equally. A salt counts the channels of a
    // message, which take the node's NICs in turn: only those that meet on a NIC again need another cable.
    std::uint32_t cable_of(Port a, Port b, std::uint64_t salt) const {
        const Port low = a.node < b.node ? a : b, high = a.node < b.node ? b : a;
        const std::uint32_t m = shape_.global_links;
        return static_cast<std::uint32_t>((as_low(low) + as_high(high) + salt / shape_.nics_per_node % m) % m);
    }
    std::uint32_t as_low(Port port) const {
        const std::uint32_t number = port.node * shape_.nics_per_node + port.nic;
        return (number + number / shape_.global_links) % shape_.global_links;
    }
    std::uint32_t as_high(Port port) const { return port.node / shape_.global_links % shape_.global_links; }

    DragonflyShape shape_;
    std::uint32_t groups_;  // one, or all of the machine
};

void check_dragonfly(Field& block, const DragonflyShape& shape, std::uint32_t groups, NetworkSize size) {
    const std::uint32_t chassis = divide_up(shape.nodes_per_group, shape.nodes_per_chassis);
    if (std::uint64_t{chassis} * shape.switches_per_chassis > shape.switches_per_group) {
        block.error("switches_per_group",
                    "{} nodes in chassis of {} need {} chassis of {} switches, but a group has {} switches",
                    shape.nodes_per_group, shape.nodes_per_chassis, chassis, shape.switches_per_chassis,
                    shape.switches_per_group);
    }
    const std::uint32_t radix = block.count("radix");
    const std::uint64_t endpoints =
        std::uint64_t{shape.nodes_per_chassis} * divide_up(size.nics_per_node, shape.switches_per_chassis);
    const std::uint64_t local = shape.switches_per_group - 1;
    const std::uint64_t bundles = std::uint64_t{groups - 1} * shape.global_links;
    const std::uint64_t global = (bundles + local) / shape.switches_per_group;
    block.error_if(endpoints + local + global > radix, "radix",
                   "a switch needs {} ports ({} to NICs, {} local, {} global), but has {}", endpoints + local + global,
                   endpoints, local, global, radix);
}

std::unique_ptr<const Network> read_dragonfly(Field block, const LinkClasses& classes, NetworkSize size) {
    block.text("source", "");
    const DragonflyShape shape{.nodes_per_group = block.count("nodes_per_group"),
                               .switches_per_group = block.count("switches_per_group"),
                               .nodes_per_chassis = block.count("nodes_per_chassis"),
                               .switches_per_chassis = block.count("switches_per_chassis"),
                               .global_links = block.count("global_links"),
                               .nics_per_node = size.nics_per_node,
                               .port = classes.read(block, "port"),
                               .local = classes.read(block, "local"),
                               .global = classes.read(block, "global")};
    const std::uint32_t groups = divide_up(size.nodes, shape.nodes_per_group);
    check_dragonfly(block, shape, groups, size);
    block.done();
    return std::make_unique<Dragonfly>(shape, size.nodes, groups);
}

}  // namespace

extern const BlockKind dragonfly{.name = "dragonfly", .read_network = read_dragonfly};

}  // namespace weft::blocks
