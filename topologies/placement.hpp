// Where a batch system has put a job: from a few words to the machine's node that each node of the job is.
//
//   contiguous               the first nodes of the machine
//   random, random:SEED      any nodes, in any order (SEED: 0 if absent)
//   group:K                  in equal runs on the first K groups (the largest neighbourhoods of the network)
//   scatter:K                dealt to the first K groups in turn
//   nodes:16-31,40           these, by their numbers
//   file:PATH, or a path     the nodes that a hostfile or node list names (see node_list.hpp), in its order
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "topologies/machine.hpp"

namespace weft {

// For a job of 1 to machine.nodes nodes; empty for "contiguous". A path (a word with '/' or '.' in it) is meant from
// `folder`; of a longer list the first nodes are taken. Throws ConfigError, with its place in the file where there is
// one.
std::vector<std::uint32_t> place_nodes(std::string_view placement, std::uint32_t nodes, const MachineInfo& machine,
                                       const std::filesystem::path& folder = {});

}  // namespace weft
