// The nodes that a batch system or an MPI launcher names: a hostfile, a machine file, or a Slurm node list.
//
//   frontier00012                   # one name per line, or several; comments
//   frontier00013 slots=8           # as Open MPI writes
//   frontier00014:8                 # as MPICH writes
//   frontier[00021-00024,00030]     # as Slurm writes
//   17                              # a node by its number
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topologies/machine.hpp"

namespace weft {

// The numbers of the nodes, in the order in which the text names them. `file` is for messages. Slots must leave room
// for a rank on every accelerator. Throws ConfigError: not a list of nodes of this machine, or a node twice.
std::vector<std::uint32_t> parse_node_list(const std::string& file, std::string_view text, const MachineInfo& machine);

// The same in words, as the placement nodes:LIST has it: "16-31,40".
std::string node_ranges(std::span<const std::uint32_t> nodes);

}  // namespace weft
