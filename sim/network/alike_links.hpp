// Links that carry the same, as one: a machine has many more links than there are differences between them.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "sim/base/table.hpp"
#include "sim/network/network_model.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

// Which link stands for which.
class AlikeLinks {
  public:
    static constexpr std::uint32_t untouched = std::numeric_limits<std::uint32_t>::max();

    AlikeLinks() = default;  // each stands for itself
    // The kind of each link, or `untouched`, and the first link of each kind.
    AlikeLinks(Table<LinkId, std::uint32_t> kind, std::vector<LinkId> first)
        : kind_(std::move(kind)), first_(std::move(first)) {}

    // Itself, where no pattern crosses it.
    LinkId standing_for(LinkId link) const {
        return kind_.empty() || kind_[link] == untouched ? link : first_[kind_[link]];
    }

  private:
    Table<LinkId, std::uint32_t> kind_;
    std::vector<LinkId> first_;
};

// Of the links of one class that every pattern loads alike, keeps the first, which stands for all of them from then on
// (LinkLoad::alike). Rates stay the same, since alike links are one constraint; so do sums over links that count each
// by how many it stands for. Exact, on any topology: loads are compared, not hashed.
AlikeLinks merge_alike_links(const Topology& topology, Table<PatternId, Pattern>& patterns);

}  // namespace weft
