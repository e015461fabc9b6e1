#include "topologies/placed_network.hpp"

#include <algorithm>

namespace weft {

PlacedNetwork::PlacedNetwork(const Network& whole, std::vector<std::uint32_t> nodes)
    : nodes_(std::move(nodes)), network_(whole.first(*std::max_element(nodes_.begin(), nodes_.end()) + 1)) {}

std::unique_ptr<const Network> PlacedNetwork::first(std::uint32_t nodes) const {
    return std::make_unique<PlacedNetwork>(*network_, std::vector(nodes_.begin(), nodes_.begin() + nodes));
}

}  // namespace weft
