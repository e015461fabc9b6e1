// Links among members that are joined all-to-all, as groups of a dragonfly and the switches in one of them are.
#pragma once

#include <cstdint>

namespace weft::blocks {

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
    std::uint32_t way_back(std::uint32_t number) const {
        const Place there = place(number);
        return link({.from = there.to, .to = there.from, .cable = there.cable});
    }
};

}  // namespace weft::blocks
