// A way through the machine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/base/check.hpp"
#include "sim/base/table.hpp"

namespace weft {

// The directed links from one rank to another, in order. Empty for a rank to itself.
struct Route {
    static constexpr std::size_t capacity = 40;  // across a torus of 16 x 20 x 28 (a TPU v5p pod), both nodes included
    std::array<LinkId, capacity> hop;            // of which the first `hops` are set
    std::uint8_t hops = 0;

    void push_back(LinkId link) {
        WEFT_CHECK(hops < capacity, "route longer than Route::capacity");
        hop[hops++] = link;
    }
    void append(const Route& other) {
        for (const LinkId link : other.links()) push_back(link);
    }
    std::span<const LinkId> links() const& { return {hop.data(), hops}; }
    std::span<const LinkId> links() const&& = delete;  // a view of a temporary would dangle
};

}  // namespace weft
