// The levels of a fat tree that an oversubscription says.
#pragma once

#include <cstdint>

#include "topologies/blocks/block.hpp"
#include "topologies/blocks/fat_tree_network.hpp"

namespace weft::blocks {

// Oversubscription: NICs on a leaf per cable up from it. `shape` has all but levels; `block` is the network's object.
//
// Levels above leaves of d NICs and u = d / oversubscription cables up, with switches of `radix` ports, for L leaves
// that must be joined (with leaf order "rail" those of one rail, where PXN leaves messages on their rail):
//   - L <= radix: one level of spines, each cabled to every leaf.
//   - else two: below, spines with half their ports down, to radix / 2 leaves, and as many up; above, cores with all
//     ports down, each cabled to a spine of every block of leaves.
// Where switches have ports left for two or more cables to each neighbour, fewer switches with more cables are taken.
// Mistakes are recorded at "oversubscription", "levels" are then one of no use.
std::vector<TreeLevel> derived_levels(Field& block, const TreeShape& shape, LinkClassId link, NetworkSize size);

// Takes cables, and then spines, from the leaves of `levels` until the oversubscription is as given.
void thin_leaves(Field& block, const TreeShape& shape, std::vector<TreeLevel>& levels);

}  // namespace weft::blocks
