// What every link of a machine carries in a time.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/base/table.hpp"
#include "sim/network/network_model.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

// Links that carry the same, as one: a machine has many more links than there are differences between them.

// Which link stands for which.
class EqualLinks {
  public:
    EqualLinks() = default;  // each stands for itself
    // By link; itself, where no pattern crosses it.
    explicit EqualLinks(Table<LinkId, LinkId> first) : first_(std::move(first)) {}
    LinkId standing_for(LinkId link) const { return first_.empty() ? link : first_[link]; }

  private:
    Table<LinkId, LinkId> first_;
};

// Of the links of one class that every pattern loads equally, keeps the first, which stands for all of them from then
// on (LinkLoad::stands_for). Rates stay the same, since equal links are one constraint; so do sums over links that
// count each by how many it stands for. Exact, on any topology: loads are compared, not hashed.
EqualLinks merge_equal_links(const Topology& topology, Table<PatternId, Pattern>& patterns);

struct LinkBytes {
    LinkId link{};
    Bytes bytes;
    std::uint32_t links = 1;  // that carried as much each, of which this is the first
};

// Of links that patterns list, and that flows have crossed: ascending.
std::vector<LinkBytes> listed_links(const Table<PatternId, Pattern>& patterns, const Table<PatternId, Bytes>& moved);

struct LinkTraffic {
    Table<LinkId, Bytes> bytes;
    Seconds time;

    // Bytes over what the link could carry; 0 in no time.
    double busy(const Topology& topology, LinkId link) const {
        return time > Seconds{} ? bytes[link] / (topology.link(link).bandwidth * time) : 0.0;
    }
    std::vector<LinkBytes> used() const;  // ascending
};

// Of flows that moved so much on each pattern (`moved` may be empty: nothing). Each link has what the one that stands
// for it carries.
LinkTraffic link_traffic(const Topology& topology, const Table<PatternId, Pattern>& patterns,
                         const Table<PatternId, Bytes>& moved, const EqualLinks& equal, Seconds time);

}  // namespace weft
