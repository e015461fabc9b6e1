// What networks of groups share: which groups the detours between two ports lead through. All of it is symmetric, so
// that a detour has the same cables in both directions.
#pragma once

#include <fmt/format.h>
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "sim/base/hash.hpp"
#include "sim/topology/topology.hpp"
#include "topologies/blocks/block.hpp"

namespace weft::blocks {

inline constexpr std::uint32_t most_detours = 4;

// Equal for both directions.
inline std::uint64_t pair_hash(Port a, Port b, std::uint64_t salt) {
    if (b.node < a.node) std::swap(a, b);
    return hash_of({a.node, a.nic, b.node, b.nic, salt});
}

// How many detours lead from one of `groups` groups to another.
inline std::uint32_t detours_among(std::uint32_t groups) { return std::min(most_detours, groups - 2); }

// The group that detour i of `detours` of a pair passes between the different groups g and h: not one of these, another
// for every i, each group equally often over all pairs.
inline std::uint32_t group_between(std::uint32_t g, std::uint32_t h, std::uint32_t groups, std::uint64_t pair,
                                   std::uint32_t i, std::uint32_t detours) {
    const std::uint32_t others = groups - 2;
    const std::uint64_t start = hash_of({pair, 0}) % others;
    auto group = static_cast<std::uint32_t>((start + std::uint64_t{i} * (others / detours)) % others);
    if (group >= std::min(g, h)) ++group;
    if (group >= std::max(g, h)) ++group;
    return group;
}

// The cable, of `cables`, between the group in the middle and an end of a detour.
inline std::uint32_t cable_between(std::uint32_t middle, std::uint32_t end, std::uint64_t pair, std::uint32_t cables) {
    return static_cast<std::uint32_t>(hash_of({pair, middle, end}) % cables);
}

// Pictures that several kinds of networks have of their links.
// Of a dragonfly's links: those inside a group stand on the diagonal.
inline LinkMatrix groups_matrix(std::uint32_t groups) {
    return {.title = "Between groups, and on the diagonal inside them",
            .row = "from group",
            .column = "to group",
            .rows = groups,
            .columns = groups};
}

// Of the cables from one level of switches up to the next.
inline LinkMatrix levels_matrix(std::string_view below, std::uint32_t rows, std::string_view above,
                                std::uint32_t columns) {
    return {.title = fmt::format("Between {} and {}", below, above),
            .row = std::string(below),
            .column = std::string(above),
            .rows = rows,
            .columns = columns,
            .to_column = "up",
            .to_row = "down"};
}

}  // namespace weft::blocks
