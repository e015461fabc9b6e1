// The "libraries" of a machine file: the communication libraries of the machine. The first is the default. What a
// library costs on a fabric stands in one file of topologies/fabrics, for all machines that have it; a machine says
// what its own nodes change, by the names of rows.
//
//   "libraries": [ {
//     "extends": "slingshot-aws-ofi-rccl",                  // absent: all is said here
//     "name": "rccl",
//     "tuner": "rccl-mi200",                                // a file of topologies/tuners; absent: cheapest by "costs"
//     "order": "ranks",                                     // "links" (channels along them) or "ranks"; absent: links
//     "launch":   { "value": "12 us", "source": "..." },    // per call, on the device
//     "blocking": { "value": "18 us", "source": "..." },    // per call, on a host that waits for it
//     "costs": { "ring_ll": {                               // by names of your choice; see ProtocolCost
//       "algorithm": "ring", "protocol": "LL",            // LL LL128 Simple, inject eager rendezvous bulk, ipc
//       "operations": ["all_gather"],                       // absent: all that the algorithm runs
//       "launch": "0 us",                                   // absent: 0
//       "step_in_node": "1.3 us", "step_across": "40 us",
//       "post_in_node": "0 us", "post_across": "2 us",          // absent: 0
//       "post_channel": "9 us", "channel_part": "2 KiB", "most_channels": 16,   // absent: 0
//       "chunk": "128 KiB", "halved_below": [64, 8, 2],     // absent: not cut into loops
//       "efficiency_in_node": 0.3, "efficiency_across": 0.025,
//       "efficiency_shared": 0.01,                          // absent: as efficiency_across
//       "rate_in_node": "20 GB/s", "rate_across": "2.5 GB/s",   // absent: as fast as the links
//       "overlap": 1,                                       // absent: 1
//       "over": "16 KiB", "most": "1 MiB",                  // absent: any message
//       "source": "..."
//     } }
//   } ]
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
