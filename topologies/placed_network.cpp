#include "topologies/placed_network.hpp"

#include <algorithm>

namespace weft {

PlacedNetwork::PlacedNetwork(const Network& whole, std::vector<std::uint32_t> nodes)
    : WrappedNetwork(whole.first(*std::max_element(nodes.begin(), nodes.end()) + 1)), nodes_(std::move(nodes)) {}

std::unique_ptr<const Network> PlacedNetwork::first(std::uint32_t nodes) const {
    return std::make_unique<PlacedNetwork>(inner(), std::vector(nodes_.begin(), nodes_.begin() + nodes));
}

}  // namespace weft
