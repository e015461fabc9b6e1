// A dragonfly+: groups of leaf and spine switches, every leaf joined to every spine of its group, and a bundle of
// global links between the spines of every two groups (Shpiner et al., "Dragonfly+: Low Cost Topology for Scaling
// Datacenters", HiPINEB 2017).
//
// Numbering, for G groups of L leaves and S spines, c cables and bundles of m links:
//   leaf i of group g               g (L+S) + i
//   spine j of group g              g (L+S) + L + j
//   cable k of leaf i and spine j   2 (((g L + i) S + j) c + k) up, + 1 down
//   global link k of g -> h         2 G L S c + (g (G-1) + (h < g ? h : h-1)) m + k
// Global cable k between g and h is plugged into spine ((h - g - 1 mod G) m + k) mod S of group g: a group's global
// ports are dealt out to its spines in turn, so their numbers differ by one at most.
//
// Routes are minimal: up and down in a group; leaf, spine, spine of the other group, leaf between groups. Spines of a
// group and cables of a bundle are dealt out by the receiver, the sender and the salt, which evens out regular traffic
// as adaptive switches do. Detours between two groups lead through a third, where they change spines through a leaf
// if need be; in a group they take other spines. A job that spans several groups may take them through any group, so
// then all groups are built.
#include <fmt/format.h>

#include <algorithm>

#include "topologies/blocks/block.hpp"
#include "topologies/blocks/dragonfly_wires.hpp"
#include "topologies/blocks/networks.hpp"

namespace weft::blocks {
namespace {

struct DragonflyPlusShape {
    std::uint32_t nodes_per_group, nodes_per_leaf, rails;
    std::uint32_t spines, cables, global_links;
    std::uint32_t nics_per_node;
    LinkClassId port, local, global;

    std::uint32_t nics_per_rail() const { return divide_up(nics_per_node, rails); }
    std::uint32_t leaves(std::uint32_t nodes) const { return divide_up(nodes, nodes_per_leaf) * rails; }
};

class DragonflyPlus final : public Network {
  public:
    DragonflyPlus(const DragonflyPlusShape& shape, std::uint32_t nodes, std::uint32_t all_groups)
        : shape_(shape),
          groups_(nodes <= shape.nodes_per_group ? 1 : all_groups),
          leaves_(shape.leaves(std::min(nodes, shape.nodes_per_group))) {}

    std::unique_ptr<const Network> first(std::uint32_t nodes) const override {
        return std::make_unique<DragonflyPlus>(shape_, nodes, groups_);
    }

    std::uint32_t switches() const override { return groups_ * group_size(); }
    LinkClassId port_class() const override { return shape_.port; }

    std::uint32_t leaf(Port port) const override {
        const std::uint32_t unit = port.node % shape_.nodes_per_group / shape_.nodes_per_leaf;
        return group_of(port.node) * group_size() + unit * shape_.rails + port.nic % shape_.rails;
    }

    std::vector<LinkRun> links() const override {
        return {{shape_.local, locals()}, {shape_.global, wires().across().links()}};
    }

    SwitchPair ends(LinkId link) const override {
        const auto number = static_cast<std::uint32_t>(link);
        if (number >= locals()) return wires().ends(number);
        const std::uint32_t leaf = number / 2 / cables_up(), g = leaf / leaves_;
        const std::uint32_t spine = g * group_size() + leaves_ + number / 2 % cables_up() / shape_.cables;
        return SwitchPair{g * group_size() + leaf % leaves_, spine}.in_direction(number);
    }

    LinkId reverse(LinkId link) const override {
        const auto number = static_cast<std::uint32_t>(link);
        return number < locals() ? reverse_of(link) : wires().reverse(number);
    }

    std::string name(std::uint32_t number) const override {
        const std::uint32_t place = number % group_size();
        return place < leaves_ ? fmt::format("group {} leaf {}", number / group_size(), place)
                               : fmt::format("group {} spine {}", number / group_size(), place - leaves_);
    }

    std::vector<LinkMatrix> matrices() const override {
        return {groups_ > 1 ? groups_matrix(groups_) : levels_matrix("leaf", leaves_, "spine", shape_.spines)};
    }

    MatrixPlace place(LinkId link) const override {
        const SwitchPair pair = ends(link);
        if (groups_ > 1) return {.row = pair.tail / group_size(), .column = pair.head / group_size()};
        const bool up = pair.tail < pair.head;
        return {.row = up ? pair.tail : pair.head,
                .column = (up ? pair.head : pair.tail) - leaves_,
                .direction = up ? MatrixDirection::to_column : MatrixDirection::to_row};
    }

    Route route(Port from, Port to, std::uint64_t salt) const override {
        const std::uint32_t start = leaf(from), end = leaf(to);
        const std::uint32_t from_group = group_of(from.node), to_group = group_of(to.node);
        Route route;
        if (start == end) return route;
        const std::uint64_t choice = choice_of(from, to, salt);
        if (from_group == to_group) return by_spine(start, end, choice);
        const auto cable = static_cast<std::uint32_t>(choice % shape_.global_links);
        add_down(route, add_crossing(route, start, to_group, cable, choice), end, choice);
        return route;
    }

    std::uint32_t detours(Port from, Port to) const override {
        if (group_of(from.node) != group_of(to.node)) return detours_among(groups_);
        return leaf(from) == leaf(to) ? 0 : std::min(most_detours, cables_up() - 1);
    }

    Route detour(Port from, Port to, std::uint64_t salt, std::uint32_t i) const override {
        const std::uint32_t from_group = group_of(from.node), to_group = group_of(to.node);
        if (from_group == to_group) {
            const std::uint32_t apart = cables_up() / (detours(from, to) + 1);
            return by_spine(leaf(from), leaf(to), choice_of(from, to, salt) + (i + 1) * apart);
        }
        const std::uint64_t pair = pair_hash(from, to, salt);
        const std::uint32_t middle = group_between(from_group, to_group, groups_, pair, i, detours_among(groups_));
        const auto cable = [&](std::uint32_t end) { return cable_between(middle, end, pair, shape_.global_links); };
        Route route;
        std::uint32_t here = add_crossing(route, leaf(from), middle, cable(from_group), pair);
        if (here != wires().gateway(middle, to_group, cable(to_group))) {
            const auto turn = static_cast<std::uint32_t>(hash_of({pair, middle}) % leaves_);
            here = add_down(route, here, middle * group_size() + turn, pair);
        }
        add_down(route, add_crossing(route, here, to_group, cable(to_group), pair), leaf(to), pair);
        return route;
    }

    std::vector<std::uint32_t> neighbourhoods() const override {
        return {shape_.nodes_per_leaf, shape_.nodes_per_group};
    }

    // Half of the groups against the other half; in a single group, half of the cables between leaves and spines.
    BytesPerSecond bisection(const Table<LinkClassId, LinkClass>& classes) const override {
        const double pairs = static_cast<double>(groups_ / 2) * static_cast<double>(groups_ - groups_ / 2);
        return groups_ > 1 ? classes[shape_.global].nominal * (pairs * shape_.global_links)
                           : classes[shape_.local].nominal * (static_cast<double>(locals()) / 4.0);
    }

  private:
    enum class Direction : std::uint8_t { up, down };

    std::uint32_t group_size() const { return leaves_ + shape_.spines; }
    std::uint32_t group_of(std::uint32_t node) const { return node / shape_.nodes_per_group; }
    std::uint32_t locals() const { return 2 * groups_ * leaves_ * shape_.spines * shape_.cables; }
    GroupWires wires() const { return {groups_, group_size(), shape_.global_links, leaves_, locals()}; }

    // `cable` of all that a leaf has, spine by spine.
    LinkId local_link(std::uint32_t leaf, std::uint32_t cable, Direction direction) const {
        const std::uint32_t number = leaf / group_size() * leaves_ + leaf % group_size();
        return LinkId(2 * (number * shape_.spines * shape_.cables + cable) + (direction == Direction::down ? 1 : 0));
    }
    LinkId local_link(std::uint32_t leaf, std::uint32_t spine, std::uint64_t choice, Direction direction) const {
        const std::uint32_t j = spine % group_size() - leaves_;
        return local_link(leaf, j * shape_.cables + static_cast<std::uint32_t>(choice % shape_.cables), direction);
    }

    // From a leaf or a gateway of one group to the spine of group h where the cable ends, which is returned.
    std::uint32_t add_crossing(Route& route, std::uint32_t from, std::uint32_t h, std::uint32_t cable,
                               std::uint64_t choice) const {
        const std::uint32_t g = from / group_size(), spine = wires().gateway(g, h, cable);
        if (from != spine) route.push_back(local_link(from, spine, choice, Direction::up));
        route.push_back(wires().global(g, h, cable));
        return wires().gateway(h, g, cable);
    }
    // Returns the leaf.
    std::uint32_t add_down(Route& route, std::uint32_t spine, std::uint32_t leaf, std::uint64_t choice) const {
        route.push_back(local_link(leaf, spine, choice, Direction::down));
        return leaf;
    }

    std::uint32_t cables_up() const { return shape_.spines * shape_.cables; }
    Route by_spine(std::uint32_t start, std::uint32_t end, std::uint64_t choice) const {
        const auto cable = static_cast<std::uint32_t>(choice % cables_up());
        Route route;
        route.push_back(local_link(start, cable, Direction::up));
        route.push_back(local_link(end, cable, Direction::down));
        return route;
    }

    std::uint64_t choice_of(Port from, Port to, std::uint64_t salt) const {
        return port_number(from) + port_number(to) + salt;
    }
    // Ports of one leaf have consecutive numbers, whatever its rail.
    std::uint64_t port_number(Port port) const {
        return std::uint64_t{port.node} * shape_.nics_per_rail() + port.nic / shape_.rails;
    }

    DragonflyPlusShape shape_;
    std::uint32_t groups_;  // one, or all of the machine
    std::uint32_t leaves_;  // of a group
};

void check_dragonfly_plus(Field& block, const DragonflyPlusShape& shape, std::uint32_t groups) {
    const std::uint32_t radix = block.count("radix");
    const auto fits = [&](std::string_view kind, std::uint64_t down, std::uint64_t up) {
        block.error_if(down + up > radix, "radix", "a {} needs {} ports ({} down, {} up), but has {}", kind, down + up,
                       down, up, radix);
    };
    fits("leaf switch", std::uint64_t{shape.nodes_per_leaf} * shape.nics_per_rail(),
         std::uint64_t{shape.spines} * shape.cables);
    const std::uint64_t global = std::uint64_t{groups - 1} * shape.global_links;
    fits("spine switch", std::uint64_t{shape.leaves(shape.nodes_per_group)} * shape.cables,
         (global + shape.spines - 1) / shape.spines);
}

std::unique_ptr<const Network> read_dragonfly_plus(Field block, const LinkClasses& classes, NetworkSize size) {
    block.text("source", "");
    const DragonflyPlusShape shape{.nodes_per_group = block.count("nodes_per_group"),
                                   .nodes_per_leaf = block.count("nodes_per_leaf"),
                                   .rails = block.count("rails", 1),
                                   .spines = block.count("spines_per_group"),
                                   .cables = block.count("cables", 1),
                                   .global_links = block.count("global_links"),
                                   .nics_per_node = size.nics_per_node,
                                   .port = classes.read(block, "port"),
                                   .local = classes.read(block, "local"),
                                   .global = classes.read(block, "global")};
    block.error_if(shape.rails > size.nics_per_node, "rails", "{} rails, but a node has {} NICs", shape.rails,
                   size.nics_per_node);
    const std::uint32_t groups = divide_up(size.nodes, shape.nodes_per_group);
    check_dragonfly_plus(block, shape, groups);
    block.done();
    return std::make_unique<DragonflyPlus>(shape, size.nodes, groups);
}

}  // namespace

extern const BlockKind dragonfly_plus{.name = "dragonfly_plus", .read_network = read_dragonfly_plus};

}  // namespace weft::blocks
