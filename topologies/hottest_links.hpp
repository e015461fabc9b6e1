// The links that carried most, by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/network/link_traffic.hpp"

namespace weft {

struct HotLink {
    std::string from, to;  // as VertexNames
    std::string link_class;
    Bytes bytes;
    double busy = 0.0;
    std::uint32_t links = 1;  // of the class that carried as much, of which this is the first
};

// Of each class of `links`, which carried what they did in `time`, the busiest: so many rows at most, in each of which
// all carried the same (to nine digits). Busiest first.
std::vector<HotLink> hottest_links(const Topology& topology, std::span<const LinkBytes> links, Seconds time,
                                   std::size_t most_of_class);

}  // namespace weft
