// What traffic of other jobs leaves of links, and how long packets wait for it.
#pragma once

#include "sim/base/quantity.hpp"
#include "sim/topology/topology.hpp"
#include "topologies/fabric.hpp"

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

// How flows of others meet a job on links of one class.
struct Encounter {
    double share = 0.0;   // of the bandwidth of these links that others take on average, 0 to below 1
    double flow = 1.0;    // the rate of one of their flows over the bandwidth of a link, above 0, at most 1
    double ways = 1.0;    // how many links a flow is spread over, as adaptive and Valiant routing do
    double places = 1.0;  // so many sets of `ways` links the job crosses at once, and is as slow as on the worst
};

struct Leftover {
    double bandwidth = 1.0;  // share of it, above 0
    Seconds waiting;         // of each packet
};

// What is left on the worst of these links at probability `p` (above 0, below 1) of no less. Flows are there
// independently of one another, as many on a set of links as a Poisson distribution says, and are fair: where they do
// not fit, one of the job's on each link gets as much as each of theirs. Packets that wait, as many as the share says,
// do so with an exponential distribution of M/D/1's mean. `p` absent: what is left on average.
Leftover leftover(const Encounter& encounter, BytesPerSecond bandwidth, std::optional<double> p);

// Takes it from the links of a topology that has its routes and no faults yet. Between switches flows of others are as
// fast as what leaves a node by one NIC and meet the job as Fabric::quantile says; other links lose the share that is
// stated. Throws RangeError for a class that it does not have and a share out of range.
void add_other_traffic(Topology& topology, const Fabric& fabric);

}  // namespace weft
