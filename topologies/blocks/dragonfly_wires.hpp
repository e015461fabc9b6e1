// How the switches of a dragonfly or dragonfly+ are wired; dragonfly.cpp and dragonfly_plus.cpp say by which rule.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/table.hpp"
#include "sim/topology/topology.hpp"
#include "topologies/blocks/block.hpp"

namespace weft::blocks {

// Links among members that are joined all-to-all, as groups of a dragonfly and the switches in one of them are.
// A bundle of links leads from every member to every other one, numbered by the first, then by the other.
struct AllToAll {
    std::uint32_t members = 1, bundle = 1;

    struct Place {
        std::uint32_t from = 0, to = 0, cable = 0;
    };
    std::uint32_t links() const { return members * (members - 1) * bundle; }
    std::uint32_t link(Place place) const {
        const std::uint32_t other = place.to < place.from ? place.to : place.to - 1;
        return (place.from * (members - 1) + other) * bundle + place.cable;
    }
    Place place(std::uint32_t link) const {
        const std::uint32_t pair = link / bundle, from = pair / (members - 1), other = pair % (members - 1);
        return {.from = from, .to = other < from ? other : other + 1, .cable = link % bundle};
    }
    std::uint32_t reverse(std::uint32_t number) const {
        const Place there = place(number);
        return link({.from = there.to, .to = there.from, .cable = there.cable});
    }
};

struct GroupWires {
    std::uint32_t groups = 1, size = 1, cables = 1;  // switches of a group, cables of a bundle
    std::uint32_t leaves = 0;  // of the switches of a group those, the first, without global ports
    std::uint32_t locals = 0;  // links inside groups, which come first

    AllToAll across() const { return {.members = groups, .bundle = cables}; }

    // The switch of group g that cable `cable` to group h is plugged into.
    std::uint32_t gateway(std::uint32_t g, std::uint32_t h, std::uint32_t cable) const {
        const std::uint32_t turn = (h + groups - g - 1) % groups;
        return g * size + leaves + (turn * cables + cable) % (size - leaves);
    }
    LinkId global(std::uint32_t g, std::uint32_t h, std::uint32_t cable) const {
        return LinkId(locals + across().link({g, h, cable}));
    }
    SwitchPair ends(std::uint32_t global) const {
        const auto [from, to, cable] = across().place(global - locals);
        return {gateway(from, to, cable), gateway(to, from, cable)};
    }
    LinkId reverse(std::uint32_t global) const { return LinkId(locals + across().reverse(global - locals)); }
};

// Of a dragonfly: the switches of a group are joined all-to-all, as groups are.
struct DragonflyWires : GroupWires {
    DragonflyWires(std::uint32_t groups, std::uint32_t size, std::uint32_t cables) : GroupWires{groups, size, cables} {
        locals = groups * inside().links();
    }
    AllToAll inside() const { return {.members = size, .bundle = 1}; }  // a group
    LinkId local(std::uint32_t a, std::uint32_t b) const {              // different switches of one group
        return LinkId(a / size * inside().links() + inside().link({a % size, b % size, 0}));
    }
};

// What a complete exchange puts on the links of a dragonfly, counted by switches and cables.
// A port by which some send and receive: its node, its switch, and what it adds to the number of the cable that
// messages take between two groups, in the group with the lower number or in the other one.
struct DragonflyUse {
    std::uint32_t node = 0, leaf = 0;
    std::uint32_t as_low = 0, as_high = 0;  // below `cables`
    double senders = 0, receivers = 0;
};

// `turn` is added to the number of every cable.
void add_dragonfly_exchange(const DragonflyWires& wires, const std::vector<DragonflyUse>& uses, std::uint32_t turn,
                            Router::Routes routes, Seconds local, Seconds global, ExchangeSink& sink);

}  // namespace weft::blocks
