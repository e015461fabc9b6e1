// Length of a path through the graph of links: fewer hops are better, then a wider bottleneck.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>

namespace weft {

// Taking the widest of the shortest is safe for Dijkstra: of two paths with equal hops the wider stays at least as wide
// when both are extended by the same link.
struct Distance {
    std::uint32_t hops = 0;
    double width = std::numeric_limits<double>::infinity();  // bandwidth of the narrowest link, bytes per second

    bool operator==(const Distance&) const = default;
    friend bool operator<(const Distance& a, const Distance& b) {
        return std::tuple(a.hops, -a.width) < std::tuple(b.hops, -b.width);
    }
    friend Distance operator+(const Distance& a, const Distance& b) {
        return {a.hops + b.hops, std::min(a.width, b.width)};
    }
};

constexpr Distance unreachable{std::numeric_limits<std::uint32_t>::max() / 2, 0.0};

}  // namespace weft
