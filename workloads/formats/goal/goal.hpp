// GOAL schedules, as LogGOPSim, its schedgen and ATLAHS write them: all ranks in one text. Source: Hoefler, Siebert and
// Lumsdaine, "Group Operation Assembly Language", ICPP 2009, and the text that LogGOPSim's txt2bin accepts.
//
//   num_ranks 2
//   rank 0 {
//     l1: calc 1000 cpu 1                  // ns, on a core: one thing at a time; 0 if it is not said
//     l2: send 64b to 1 tag 7 cpu 0 nic 1  // over which NIC is the machine's to say
//     l2 requires l1                       // l2 begins when l1 is over
//     l3: recv 64b from 1 tag 8
//     l3 irequires l2                      // l3 begins when l2 has begun
//   }
#pragma once

#include "workloads/recorded/reading.hpp"

namespace weft {

// All of it. What a mistake spoils alone is told with the others; a text that cannot be gone on with throws a
// ConfigError at once.
void read_goal(ByteSource& source, RecordedReading& reading);

}  // namespace weft
