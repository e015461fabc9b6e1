// An ordered group of ranks, the channels its messages are split over, and the traffic its collectives put on links.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
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
    Seconds launch{};
    Seconds step_in_node{};
    Seconds step_across{};
    double efficiency_in_node = 1.0;
    double efficiency_across = 1.0;
};

// Accumulates the loads of one phase over any number of communicators that run it in lock step (all the equal groups
// of a program, say), and the latency of the slowest.
class PhaseTraffic {
  public:
    PhaseTraffic(const Topology& topology, const LibraryCost& library) : topology_(topology), library_(library) {}

    // The unit of flow is one byte from each sender to each of its peers, split over the channels: each message loads
    // its links with 1 / channels / efficiency. Channel c takes the routes of salt c. All communicators of one
    // PhaseTraffic run the same phase. Groups of one add nothing.
    void add(const Phase& phase, const Communicator& communicator);

    // Loads merged and sorted. `alone`: of the slowest communicator, its own messages sharing links. `cap`: for a phase
    // with duty < 1 that share of the rate that an idle network gives, infinite otherwise.
    Pattern pattern() const;

    // Of the slowest channel: messages that follow one another (shift, chain) along the worst `hops` in a row, round
    // the ring as often as need be; otherwise `hops` times the slowest message. A message takes the library's step and
    // the latencies of its links.
    Seconds latency() const { return latency_; }

  private:
    Seconds add_message(RankId from, RankId to, std::uint64_t channel, double share);  // returns its latency

    const Topology& topology_;
    LibraryCost library_;
    std::vector<LinkLoad> loads_;
    std::vector<Seconds> messages_;  // latencies, of the channel being added
    BytesPerSecond alone_{std::numeric_limits<double>::infinity()};
    double duty_ = 1.0;
    Seconds latency_;
};

// A stretch of an algorithm on the wire: latency first, then message x bytes_per_message_byte on the pattern.
struct PhaseCost {
    Pattern pattern{};
    Seconds latency{};
    double bytes_per_message_byte = 0.0;  // moved by one sender to one peer
};

// The algorithm run in lock step by communicators of equal size (LogicError otherwise, or if the algorithm cannot
// have that many members). Phases on the same traffic that follow one another are one stretch. The first stretch
// carries the launch latency; a group of one costs nothing else.
std::vector<PhaseCost> cost(const Algorithm& algorithm, std::span<const Communicator> communicators,
                            const Topology& topology, const LibraryCost& library);

}  // namespace weft
