// The patterns that cross each link: the transpose of what the patterns list. Of the links that a pattern crosses, and
// of no others: a machine may have many more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/base/table.hpp"
#include "sim/network/network_model.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

struct Crossing {
    PatternId pattern{};
    double load = 1.0;
    bool operator==(const Crossing&) const = default;
};

class LinkPatterns {
  public:
    // LogicError if a pattern names a link that the topology does not have.
    LinkPatterns(const Topology& topology, const Table<PatternId, Pattern>& patterns);

    // That a pattern crosses, ascending.
    std::span<const LinkId> links() const { return links_; }
    // The crossings of links()[place], in pattern order.
    std::span<const Crossing> on(std::size_t place) const {
        return {crossings_.data() + start_[place], crossings_.data() + start_[place + 1]};
    }
    // Links that links()[place] stands for (LinkLoad::stands_for).
    std::uint32_t stands_for(std::size_t place) const { return stands_for_[place]; }

  private:
    std::vector<LinkId> links_;
    std::vector<std::uint32_t> stands_for_;  // by place
    std::vector<std::uint32_t> start_;       // CSR over links_; one more at the end
    std::vector<Crossing> crossings_;
};

// By finished flows on any of so many patterns.
template <NetworkModel N>
Bytes delivered(const N& network, std::size_t patterns) {
    Bytes sum;
    for (PatternId id{}; index(id) < patterns; id = next(id)) sum += network.moved(id);
    return sum;
}

// What finished flows have carried over a link: bytes moved times load, over every pattern that crosses it.
template <NetworkModel N>
Bytes carried(const N& network, std::span<const Crossing> crossings) {
    return sum_of<Bytes>(crossings, [&](const Crossing& own) { return network.moved(own.pattern) * own.load; });
}

}  // namespace weft
