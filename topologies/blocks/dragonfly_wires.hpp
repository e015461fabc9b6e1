// How the switches of a dragonfly are wired; dragonfly.cpp says by which rule.
#pragma once

#include <cstdint>

#include "sim/base/table.hpp"
#include "topologies/blocks/all_to_all.hpp"

namespace weft::blocks {

struct DragonflyWires {
    std::uint32_t groups = 1, size = 1, cables = 1;  // switches of a group, cables of a bundle

    AllToAll inside() const { return {.members = size, .bundle = 1}; }  // a group
    AllToAll across() const { return {.members = groups, .bundle = cables}; }
    std::uint32_t locals() const { return groups * inside().links(); }

    // The switch of group g that cable `cable` to group h is plugged into.
    std::uint32_t gateway(std::uint32_t g, std::uint32_t h, std::uint32_t cable) const {
        const std::uint32_t turn = (h + groups - g - 1) % groups;
        return g * size + (turn * cables + cable) % size;
    }
    LinkId global(std::uint32_t g, std::uint32_t h, std::uint32_t cable) const {
        return LinkId(locals() + across().link({g, h, cable}));
    }
    LinkId local(std::uint32_t a, std::uint32_t b) const {  // different switches of one group
        return LinkId(a / size * inside().links() + inside().link({a % size, b % size, 0}));
    }
};

}  // namespace weft::blocks
