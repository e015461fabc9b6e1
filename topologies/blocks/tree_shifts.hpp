// How the links of a tree move where all that is below them does (Network::shifts).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "topologies/blocks/block.hpp"

namespace weft::blocks {

// The links between the subtrees of one level, leaves on the lowest, and the level above. Link pair k up and down of
// switch W of subtree H has the number first_link + 2 ((H switches + W) parents cables + k).
struct TreeLinks {
    std::uint32_t first_link = 0, switches = 1;
    std::uint32_t children = 1, parents = 1, cables = 1;
    std::uint32_t ports_up() const { return parents * cables; }
};

// Of routes that go up to the lowest common level and down again, where the digits of a number choose the ways up, the
// lowest first: digit d of a level takes cable d / parents to parent d % parents. Leaf here[i] moves to there[i], and
// the number by `by`. Nothing where links do not move alike. Uses up the room of both lists.
std::optional<std::vector<LinkShift>> tree_shifts(std::span<std::uint32_t> here, std::span<std::uint32_t> there,
                                                  std::int64_t by, std::span<const TreeLinks> levels);

}  // namespace weft::blocks
