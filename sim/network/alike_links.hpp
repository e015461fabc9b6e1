// Links that carry the same, as one: a machine has many more links than there are differences between them.
#pragma once

#include "sim/base/table.hpp"
#include "sim/network/network_model.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

// Of the links of one class that every pattern loads alike, keeps the first, which stands for all of them from then on
// (LinkLoad::alike). Rates stay the same, since alike links are one constraint; so do sums over links that count each
// by how many it stands for. Exact, on any topology: loads are compared, not hashed.
void merge_alike_links(const Topology& topology, Table<PatternId, Pattern>& patterns);

}  // namespace weft
