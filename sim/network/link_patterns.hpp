// The patterns that cross each link: the transpose of what the patterns list.
#pragma once

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

    // In pattern order; empty for a link that nothing crosses.
    std::span<const Crossing> on(LinkId link) const {
        return {crossings_.data() + start_[index(link)], crossings_.data() + start_[index(link) + 1]};
    }

  private:
    std::vector<std::uint32_t> start_;  // CSR over LinkId; one more at the end
    std::vector<Crossing> crossings_;
};

}  // namespace weft
