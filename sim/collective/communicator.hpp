// An ordered group of ranks, the channels its messages are split over, and the traffic its collectives put on links.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/base/table.hpp"
#include "sim/collective/algorithm.hpp"
#include "sim/network/network_model.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

// Each channel is a full order of the members (a ring, or the member numbering of another algorithm); every message
// is split equally over the channels, which run side by side.
struct Communicator {
    std::vector<std::vector<RankId>> channels;
    std::uint32_t size() const { return channels.empty() ? 0 : static_cast<std::uint32_t>(channels.front().size()); }
};

// What a message costs besides its bytes: the library's software latency per message, in a node and across nodes,
// once per call, and how much of a link's achievable bandwidth its protocol reaches (0 < efficiency <= 1).
struct LibraryCost {
    Seconds launch;
    Seconds step_in_node;
    Seconds step_across;
    double efficiency_in_node = 1.0;
    double efficiency_across = 1.0;
};

// Accumulates the loads of one phase over any number of communicators that run it in lock step (all the tensor groups
// of a pipeline stage, say), and the latency of the slowest.
class PhaseTraffic {
  public:
    PhaseTraffic(const Topology& topology, const LibraryCost& library) : topology_(topology), library_(library) {}

    // Every flow carries its share of one unit of `Phase::fraction * message`, split over the channels.
    void add(const Phase& phase, const Communicator& communicator);

    Pattern pattern();                            // loads merged and sorted; leaves this empty
    Seconds latency() const { return latency_; }  // sum of message latencies along the worst critical path

  private:
    const Topology& topology_;
    LibraryCost library_;
    std::vector<LinkLoad> loads_;
    Seconds latency_;
};

}  // namespace weft
