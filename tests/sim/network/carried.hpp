// What a link has carried.
#pragma once

#include "sim/network/link_patterns.hpp"

namespace weft {

// Nothing over a link that no pattern crosses.
template <NetworkModel N>
Bytes carried(const N& network, LinkId link) {
    const auto links = network.crossed().links();
    const auto place = std::ranges::find(links, link);
    if (place == links.end()) return {};
    return carried(network, network.crossed().on(static_cast<std::size_t>(place - links.begin())));
}

}  // namespace weft
