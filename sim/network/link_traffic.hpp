// What every link of a machine carries in a time.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/base/table.hpp"
#include "sim/network/alike_links.hpp"
#include "sim/network/network_model.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

struct LinkBytes {
    LinkId link{};
    Bytes bytes;
    std::uint32_t alike = 1;  // links that carried as much each, of which this is the first
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
                         const Table<PatternId, Bytes>& moved, const AlikeLinks& alike, Seconds time);

}  // namespace weft
