#include "topologies/blocks/fat_tree_network.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <boost/container/small_vector.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "topologies/blocks/networks.hpp"

namespace weft::blocks {

namespace {

// The switches of one level that exist: all (H, W) with H < high, W < low.
struct Tier {
    std::uint32_t first_switch, first_link, high, low;
};

// By how much each link up and down at a switch moves where the digit that chooses it, cable x parents + parent, grows
// by so much.
std::vector<std::int32_t> turned(const TreeLevel& level, std::int64_t by) {
    const std::int64_t all = level.ports_up();
    const auto turn = static_cast<std::uint32_t>((by % all + all) % all);
    std::vector<std::int32_t> each;
    if (turn == 0) return each;
    each.reserve(2 * static_cast<std::size_t>(all));
    for (std::uint32_t parent = 0; parent < level.parents; ++parent) {
        const std::uint32_t next_parent = parent + turn % level.parents, carry = next_parent < level.parents ? 0 : 1;
        for (std::uint32_t cable = 0; cable < level.cables; ++cable) {
            const std::uint32_t next_cable = cable + turn / level.parents + carry;
            const std::uint32_t port = parent * level.cables + cable,
                                moved = (next_parent - carry * level.parents) * level.cables +
                                        (next_cable < level.cables ? next_cable : next_cable - level.cables);
            each.insert(each.end(), 2, 2 * (static_cast<std::int32_t>(moved) - static_cast<std::int32_t>(port)));
        }
    }
    return each;
}

// By how much all subtrees move, if by one number.
std::optional<std::int64_t> common_step(std::span<const std::uint32_t> here, std::span<const std::uint32_t> there) {
    const std::int64_t step = std::int64_t{there[0]} - here[0];
    for (std::size_t i = 1; i < here.size(); ++i) {
        if (std::int64_t{there[i]} - here[i] != step) return {};
    }
    return step;
}

bool are_one(std::span<const std::uint32_t> subtrees) {
    return std::ranges::all_of(subtrees, [&](std::uint32_t subtree) { return subtree == subtrees[0]; });
}

// How the links of a tree move where all that is below them does (Network::shifts), of routes that go up to the lowest
// common level and down again, where the digits of a number choose the paths up, the lowest first: digit d of a level
// takes cable d / parents to parent d % parents. Leaf here[i] moves to there[i], and the number by `by`. Nothing where
// links do not move by as much. Uses up the room of both lists.
//
// Subtrees that all move by one number at every level, up to that which joins them, meet at the levels where they met.
// Digits stay where the number that they are of moves by a multiple of what those up to there count; else only the last
// one in use may move, by the same for all.
std::optional<std::vector<LinkShift>> tree_shifts(std::span<std::uint32_t> here, std::span<std::uint32_t> there,
                                                  std::int64_t by, std::span<const TreeLevel> levels,
                                                  std::span<const Tier> tiers) {
    std::vector<LinkShift> found;
    std::int64_t paths = 1;  // up to these subtrees
    for (std::size_t l = 0; l + 1 < tiers.size(); ++l) {
        const TreeLevel& level = levels[l];
        const std::optional<std::int64_t> subtrees = common_step(here, there);
        if (!subtrees) return {};
        if (are_one(here)) return found;
        if (by % paths != 0) return {};
        found.push_back({.first = LinkId(tiers[l].first_link),
                         .by = 2 * *subtrees * tiers[l].low * level.ports_up(),
                         .each = turned(level, by / paths)});
        paths *= level.ports_up();
        for (std::uint32_t& subtree : here) subtree /= level.children;
        for (std::uint32_t& subtree : there) subtree /= level.children;
    }
    return are_one(here) && common_step(here, there) ? std::optional(std::move(found)) : std::nullopt;
}

// From below.
constexpr std::array<std::string_view, 4> level_names{"leaf", "spine", "core", "top switch"};

class FatTree final : public Network {
  public:
    FatTree(TreeShape shape, std::uint32_t nodes, std::optional<TreeGrowth> growth = {})
        : shape_(std::move(shape)), nodes_(nodes), growth_(std::move(growth)) {
        const std::uint32_t units = divide_up(nodes, shape_.nodes_per_leaf);
        if (shape_.order == LeafOrder::rail &&
            !shape_.levels.empty()) {  // leaves of one rail, and nothing else, share the lowest spines
            shape_.units_per_block = shape_.levels.front().children = std::min(units, shape_.levels.front().children);
        }
        std::uint32_t high = divide_up(units, shape_.units_per_block) * shape_.units_per_block * shape_.rails;
        std::uint32_t low = 1, first_switch = 0, first_link = 0;
        for (std::size_t l = 0;; ++l) {
            const bool top = l == shape_.levels.size() || high == 1;  // levels above a single subtree are not needed
            const std::uint32_t ports = top ? 0 : shape_.levels[l].ports_up();
            tiers_.push_back({.first_switch = first_switch, .first_link = first_link, .high = high, .low = low});
            first_switch += high * low;
            first_link += high * low * ports * 2;
            if (top) break;
            high = divide_up(high, shape_.levels[l].children);
            low *= shape_.levels[l].parents;
        }
        switches_ = first_switch;
    }

    std::unique_ptr<const Network> first(std::uint32_t nodes) const override {
        return std::make_unique<FatTree>(shape_, nodes);
    }

    std::unique_ptr<const Network> grown(std::uint32_t nodes) const override {
        std::optional<TreeShape> shape = growth_ ? growth_->for_nodes(nodes) : std::nullopt;
        return shape ? std::make_unique<FatTree>(*std::move(shape), nodes, growth_) : nullptr;
    }
    std::uint32_t most_nodes() const override { return growth_ ? growth_->most_nodes() : 0; }
    std::uint32_t switches() const override { return switches_; }
    LinkClassId port_class() const override { return shape_.port; }
    std::uint32_t leaf(Port port) const override {
        const std::uint32_t unit = port.node / shape_.nodes_per_leaf;
        const std::uint32_t block = unit / shape_.units_per_block, in_block = unit % shape_.units_per_block;
        return (block * shape_.rails + port.nic % shape_.rails) * shape_.units_per_block + in_block;
    }

    std::vector<LinkRun> links() const override {
        return list_of<LinkRun>(numbers_below<std::size_t>(tiers_.size() - 1), [&](std::size_t l) {
            return LinkRun{shape_.levels[l].link_class, tiers_[l + 1].first_link - tiers_[l].first_link};
        });
    }

    SwitchPair ends(LinkId link) const override {
        const auto number = static_cast<std::uint32_t>(link);
        std::size_t l = 0;
        while (tiers_[l + 1].first_link <= number) ++l;
        const TreeLevel& level = shape_.levels[l];
        const std::uint32_t cable = (number - tiers_[l].first_link) / 2;
        const std::uint32_t child = cable / level.ports_up(), port = cable % level.ports_up();
        const std::uint32_t high = child / tiers_[l].low, low = child % tiers_[l].low;
        const std::uint32_t parent = switch_at(l + 1, high / level.children, low * level.parents + port / level.cables);
        return SwitchPair{switch_at(l, high, low), parent}.in_direction(number);
    }

    std::string name(std::uint32_t number) const override {
        const std::size_t l = level_of(number);
        return fmt::format("{} {}", level_names[l], number - tiers_[l].first_switch);
    }

    std::vector<LinkMatrix> matrices() const override {
        return list_of<LinkMatrix>(numbers_below<std::size_t>(tiers_.size() - 1), [&](std::size_t l) {
            return levels_matrix(level_names[l], tiers_[l].high * tiers_[l].low, level_names[l + 1],
                                 tiers_[l + 1].high * tiers_[l + 1].low);
        });
    }

    MatrixPlace place(LinkId link) const override {
        const SwitchPair pair = ends(link);
        const auto [below, above] = std::minmax(pair.tail, pair.head);
        const std::size_t l = level_of(below);
        return {.matrix = static_cast<std::uint32_t>(l),
                .row = below - tiers_[l].first_switch,
                .column = above - tiers_[l + 1].first_switch,
                .direction = pair.tail == below ? MatrixDirection::to_column : MatrixDirection::to_row};
    }

    Route route(Port from, Port to, std::uint64_t salt) const override {
        return by_choice(leaf(from), leaf(to), destination(to) + salt);
    }

    bool has_one_route(Port from, Port to) const override { return leaf(from) == leaf(to); }

    std::uint32_t detours(Port from, Port to) const override {
        return static_cast<std::uint32_t>(std::min<std::uint64_t>(most_detours, paths(leaf(from), leaf(to)) - 1));
    }

    Route detour(Port from, Port to, std::uint64_t salt, std::uint32_t i) const override {
        const std::uint32_t here = leaf(from), there = leaf(to);
        const std::uint64_t all = paths(here, there),
                            apart = all / (std::min<std::uint64_t>(most_detours, all - 1) + 1);
        return by_choice(here, there, destination(to) + salt + (i + 1) * apart);
    }

    std::optional<std::vector<LinkShift>> shifts(std::span<const Port> ports,
                                                 std::span<const Port> moved) const override {
        boost::container::small_vector<std::uint32_t, 32> here, there;
        const std::uint64_t destinations = destination(moved[0]) - destination(ports[0]);  // modulo 2^64
        for (std::size_t i = 0; i < ports.size(); ++i) {
            if (destination(moved[i]) - destination(ports[i]) != destinations) return {};
            here.push_back(leaf(ports[i]));
            there.push_back(leaf(moved[i]));
        }
        return tree_shifts({here.data(), here.size()}, {there.data(), there.size()},
                           static_cast<std::int64_t>(destinations), shape_.levels, tiers_);
    }

    bool routes_by_leaf() const override { return true; }

    std::uint64_t residue(Port port) const override {
        if (shape_.levels.empty()) return Network::residue(port);
        return destination(port) % shape_.levels.front().ports_up();
    }

    std::vector<std::uint32_t> neighbourhoods() const override {
        std::vector<std::uint32_t> sizes{shape_.nodes_per_leaf};
        if (shape_.units_per_block > 1) sizes.push_back(shape_.nodes_per_leaf * shape_.units_per_block);
        return sizes;
    }

    // What half of the NICs can inject, or half of the cables of the thinnest level that the cut goes through.
    BytesPerSecond bisection(const Table<LinkClassId, LinkClass>& classes) const override {
        BytesPerSecond narrowest =
            classes[shape_.port].nominal * (static_cast<double>(nodes_) * shape_.rails * shape_.nics_per_rail);
        for (std::size_t l = 0; l + 1 < tiers_.size(); ++l) {
            const double subtrees = l == 0 ? 1.0 * divide_up(nodes_, shape_.nodes_per_leaf) * shape_.rails
                                           : 1.0 * tiers_[l].high;  // leaves that have nodes, not room for leaves
            const double cables = subtrees * tiers_[l].low * shape_.levels[l].ports_up();
            narrowest = std::min(narrowest, classes[shape_.levels[l].link_class].nominal * cables);
        }
        return narrowest / 2.0;
    }

  private:
    std::size_t level_of(std::uint32_t switch_number) const {
        std::size_t l = 0;
        while (l + 1 < tiers_.size() && tiers_[l + 1].first_switch <= switch_number) ++l;
        return l;
    }

    std::uint32_t switch_at(std::size_t l, std::uint32_t high, std::uint32_t low) const {
        return tiers_[l].first_switch + high * tiers_[l].low + low;
    }

    LinkId link_at(std::size_t l, std::uint32_t high, std::uint32_t low, std::uint32_t port, std::uint32_t down) const {
        const std::uint32_t child = high * tiers_[l].low + low;
        return LinkId(tiers_[l].first_link + (child * shape_.levels[l].ports_up() + port) * 2 + down);
    }

    // How many paths up there are from one leaf until it can turn down to another.
    std::uint64_t paths(std::uint32_t here, std::uint32_t there) const {
        std::uint64_t product = 1;
        for (std::size_t l = 0; here != there; ++l) {
            product *= shape_.levels[l].ports_up();
            here /= shape_.levels[l].children;
            there /= shape_.levels[l].children;
        }
        return product;
    }

    // The lowest digits of `choice`, level by level, choose the ports up.
    Route by_choice(std::uint32_t here, std::uint32_t there, std::uint64_t choice) const {
        std::uint32_t low = 0;
        Route up, down;  // `down` from the bottom
        for (std::size_t l = 0; here != there; ++l) {
            const TreeLevel& level = shape_.levels[l];
            const std::uint32_t port = level.port(choice), parent = port / level.cables;
            up.push_back(link_at(l, here, low, port, 0));
            down.push_back(link_at(l, there, low, port, 1));
            here /= level.children;
            there /= level.children;
            low = low * level.parents + parent;
            choice /= level.ports_up();
        }
        for (std::size_t i = down.hops; i > 0; --i) up.push_back(down.hop[i - 1]);
        return up;
    }

    // The number that D-mod-k takes the digits of. Ports of one leaf have consecutive numbers, and so have the leaves
    // below one spine; the order of rails matters only where rails share spines.
    std::uint64_t destination(Port port) const {
        const std::uint32_t unit = port.node / shape_.nodes_per_leaf, in_unit = port.node % shape_.nodes_per_leaf;
        const std::uint64_t leaf =
            shape_.order == LeafOrder::rail ? unit : std::uint64_t{unit} * shape_.rails + port.nic % shape_.rails;
        return (leaf * shape_.nodes_per_leaf + in_unit) * shape_.nics_per_rail + port.nic / shape_.rails;
    }

    TreeShape shape_;
    std::uint32_t nodes_;
    std::optional<TreeGrowth> growth_;
    std::vector<Tier> tiers_;
    std::uint32_t switches_ = 0;
};

}  // namespace

std::unique_ptr<const Network> make_fat_tree(TreeShape shape, std::uint32_t nodes, std::optional<TreeGrowth> growth) {
    return std::make_unique<FatTree>(std::move(shape), nodes, std::move(growth));
}

}  // namespace weft::blocks
