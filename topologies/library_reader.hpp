// The "libraries" of a machine file: the communication libraries of the machine. The first is the default. What a
// library costs on a fabric stands in one file of topologies/fabrics, for all machines that have it; a machine says
// what its own nodes change, by the names of rows.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/cost/library.hpp"
#include "sim/io/document.hpp"

namespace weft {

// Libraries that extend a file of topologies/fabrics (shipped, or a path) become whole. Mistakes are recorded.
void extend_libraries(Field machine);

// Records every error at its place.
std::vector<Library> read_libraries(Field& machine);

// A file of topologies/tuners (shipped, or a path): the tables "in_node" and "across" of times that the library
// predicts, or "decisions", or both. Throws ConfigError.
//
//   { "decisions": [ { "operations": ["all_gather"], "algorithm": "ring", "where": "across",   // absent: anywhere
//                      "power_of_two": true,                      // absent: any number of members,
//                      "least_members": 2, "most_members": 32,    //   these included
//                      "over": "0 B", "most": "32 MiB" } ] }      // of the full message; absent: any
Tuner load_tuner(std::string_view name);

inline constexpr std::array every_collective{
    Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter, Collective::broadcast,
    Collective::reduce,     Collective::all_to_all, Collective::send_receive,   Collective::point_to_point};
std::optional<Collective> find_collective(std::string_view name);  // "all_reduce"; also "allreduce", "all-reduce"

}  // namespace weft
