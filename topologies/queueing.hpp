// What other traffic on a link costs besides its share of the bandwidth.
#pragma once

#include "sim/base/quantity.hpp"

namespace weft {

// What links carry at once, as far as queues go: the largest packet of InfiniBand and of RoCE (InfiniBand Architecture
// Specification, volume 1, "MTU"). Taken for every fabric.
inline constexpr Bytes largest_packet{4096.0};

// How long a packet waits on average for others of its size that take `share` (0 to below 1) of a link and come at
// random: share / (2 (1 - share)) times what the link needs for one of them, the waiting time of an M/D/1 queue
// (Pollaczek and Khinchine; Kleinrock, "Queueing Systems" I, 1975, section 5.6).
constexpr Seconds waiting_time(double share, BytesPerSecond bandwidth) {
    return largest_packet / bandwidth * (share / (2.0 * (1.0 - share)));
}

}  // namespace weft
