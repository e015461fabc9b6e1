#include "topologies/blocks/tree_shifts.hpp"

namespace weft::blocks {

namespace {

// By how much each link up and down at a switch moves where the digit that chooses it, cable x parents + parent, grows
// by so much.
std::vector<std::int32_t> turned(const TreeLinks& level, std::int64_t by) {
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

}  // namespace

// Subtrees that all move by one number at every level, up to that which joins them, meet at the levels where they met.
// Digits stay where the number that they are of moves by a multiple of what those up to there count; else only the last
// one in use may move, by the same for all.
std::optional<std::vector<LinkShift>> tree_shifts(std::span<std::uint32_t> here, std::span<std::uint32_t> there,
                                                  std::int64_t by, std::span<const TreeLinks> levels) {
    std::vector<LinkShift> found;
    std::int64_t ways = 1;  // up to these subtrees
    for (const TreeLinks& level : levels) {
        const std::optional<std::int64_t> subtrees = common_step(here, there);
        if (!subtrees) return {};
        if (are_one(here)) return found;
        if (by % ways != 0) return {};
        found.push_back({.first = LinkId(level.first_link),
                         .by = 2 * *subtrees * level.switches * level.ports_up(),
                         .each = turned(level, by / ways)});
        ways *= level.ports_up();
        for (std::uint32_t& subtree : here) subtree /= level.children;
        for (std::uint32_t& subtree : there) subtree /= level.children;
    }
    return are_one(here) && common_step(here, there) ? std::optional(std::move(found)) : std::nullopt;
}

}  // namespace weft::blocks
