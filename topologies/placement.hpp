// Where a batch system has put a job: from a few words to the machine's node that each node of the job is.
//
//   contiguous               the first nodes of the machine
//   random, random:SEED      any nodes, in any order (SEED: 0 if absent)
//   group:K                  in equal runs on the first K groups (the largest neighbourhoods of the network)
//   scatter:K                dealt to the first K groups in turn
//   nodes:16-31,40           these, by their numbers
//   file:PATH, or a path     the nodes that a hostfile or node list names (parse_node_list), in its order
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topologies/machine.hpp"

namespace weft {

// For a job of 1 to machine.nodes nodes; empty for "contiguous". A path (a word with '/' or '.' in it) is meant from
// `folder`; of a longer list the first nodes are taken. Throws ConfigError, with its place in the file where there is
// one.
std::vector<std::uint32_t> place_nodes(std::string_view placement, std::uint32_t nodes, const MachineInfo& machine,
                                       const std::filesystem::path& folder = {});

// The nodes that a batch system or an MPI launcher names: a hostfile, a machine file, or a Slurm node list.
//
//   frontier00012                   # one name per line, or several; comments
//   frontier00013 slots=8           # as Open MPI writes
//   frontier00014:8                 # as MPICH writes
//   frontier[00021-00024,00030]     # as Slurm writes
//   17                              # a node by its number
// The numbers of the nodes, in the order in which the text names them. `file` is for messages. Slots must leave room
// for a rank on every accelerator. Throws ConfigError: not a list of nodes of this machine, or a node twice.
std::vector<std::uint32_t> parse_node_list(const std::string& file, std::string_view text, const MachineInfo& machine);

// The same in words, as the placement nodes:LIST has it: "16-31,40".
std::string node_ranges(std::span<const std::uint32_t> nodes);

// Lists of host names as Slurm writes them: "a1,b[01-03,7]-ib[0-1]" (hostlist expressions, scontrol(1) show hostlist).
struct HostNames {
    std::vector<std::string> names;  // in the order of the list
    std::string mistake;             // empty, or why it is no list of at most so many names
};

HostNames expand_host_names(std::string_view list, std::size_t most);

// The shortest list of them in which numbers that ascend are ranges; expands to the same names in the same order.
std::string compress_host_names(std::span<const std::string> names);

// Where the number at the end of a name begins: its size if it ends in none.
std::size_t number_at_end(std::string_view name);

}  // namespace weft
