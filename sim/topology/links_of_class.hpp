// How many links of the machine each class has.
#pragma once

#include <cstdint>

#include "sim/base/table.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

inline Table<LinkClassId, std::uint32_t> links_of_class(const Topology& topology) {
    Table<LinkClassId, std::uint32_t> links(topology.classes.size(), 0);
    for (const LinkClassId link_class : topology.link_class) ++links[link_class];
    return links;
}

}  // namespace weft
