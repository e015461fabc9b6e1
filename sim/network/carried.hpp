// What finished flows have carried over a link: bytes moved times load, over every pattern that crosses it.
#pragma once

#include <cstddef>
#include <span>

#include "sim/base/quantity.hpp"
#include "sim/network/link_patterns.hpp"
#include "sim/network/network_model.hpp"

namespace weft {

// By finished flows on any of so many patterns.
template <NetworkModel N>
Bytes delivered(const N& network, std::size_t patterns) {
    Bytes sum;
    for (PatternId id{}; index(id) < patterns; id = next(id)) sum += network.moved(id);
    return sum;
}

template <NetworkModel N>
Bytes carried(const N& network, std::span<const Crossing> crossings) {
    Bytes sum;
    for (const Crossing& crossing : crossings) sum += network.moved(crossing.pattern) * crossing.load;
    return sum;
}

// Nothing over a link that no pattern crosses.
template <NetworkModel N>
Bytes carried(const N& network, LinkId link) {
    return carried(network, network.crossed().on(link));
}

}  // namespace weft
