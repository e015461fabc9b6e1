// What an algorithm costs among communicators that run it in lock step.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/collective/algorithm.hpp"
#include "sim/cost/communicator.hpp"
#include "sim/cost/library.hpp"
#include "sim/network/network_model.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

// How a protocol cuts the messages of a phase (see ProtocolCost::chunk).
struct Loops {
    Bytes longest{}, first{};  // of all heads and channels: what halving counts from, and what it begins with; 0: none
    std::vector<double> halved_below{};
    Seconds each{};  // besides its bytes
    double fill = 0.0;
    BytesPerSecond inside{};  // as Pattern::alone, of the messages inside nodes alone

    Bytes of(Bytes message) const;  // of one loop
};

// A stretch of an algorithm on the wire: latency first, then message x bytes_per_message_byte on the pattern.
struct PhaseCost {
    Pattern pattern{};
    Seconds launch{};                // paid in full, before
    Seconds path{};                  // latencies on the critical path, but for
    Seconds posts{};                 // those of messages between nodes, for each channel
    double channels_per_byte = 0.0;  // of the message that the call is of, up to
    double most_channels = 0.0;
    double bytes_per_message_byte = 0.0;  // moved by one sender to one peer
    double overlap = 1.0;                 // see ProtocolCost
    Loops loops{};
    std::size_t phases = 1;  // of the algorithm, that this stretch joins
    double detoured = 0.0;   // the share of the bytes that takes detours
    bool around = false;     // whether routes are those around slow links

    Bytes bytes(Bytes message) const { return message * bytes_per_message_byte; }
    Seconds critical_path(Bytes message) const {
        return path + posts * std::min(most_channels, channels_per_byte * message.value);
    }
    // What a message of at least a byte takes longer for being worked off in loops, where it is.
    Seconds cutting(Bytes message) const;
    // launch + what of the critical path the bytes of `message` do not hide on idle links.
    Seconds latency(Bytes message) const;
    // On idle links, to the end.
    Seconds time(Bytes message) const;
};

// Of the phases of an algorithm that communicators run in lock step; `cost_of` one, as a stretch without launch
// latencies. Phases on the same traffic that follow one another are one stretch. The first carries the launch
// latencies.
std::vector<PhaseCost> cost(std::span<const Phase> phases, const std::function<PhaseCost(const Phase&)>& cost_of,
                            const Library& library, const ProtocolCost& protocol);

// Of one phase among communicators of equal size. `whole`: of more communicators that run it in lock step, of which
// these are a part. They settle on one share of detours, and pause together. Where links are slow, messages go around
// them if the phase is faster so.
PhaseCost cost(const Phase& phase, std::span<const Communicator> communicators, const Topology& topology,
               const ProtocolCost& protocol, const PhaseCost* whole = nullptr);

// Whether phases cost the same but for how much they move.
bool same_traffic(const Phase& a, const Phase& b);

// What the same communicators load and cost, moved.
Pattern moved(Pattern pattern, const LinkMove& move);
std::vector<PhaseCost> moved(std::vector<PhaseCost> phases, const LinkMove& move);

Seconds time_of(std::span<const PhaseCost> phases, Bytes message);  // on idle links

// How protocols bound the rates of a phase, beside the links.

// Efficiencies are those of endpoints: links inside nodes, and those of their ports, are held for the bytes of a
// message divided by them. Links between switches carry its bytes alone, with the flags that NCCL's protocols write
// beside them.
MessageLoad load_of(const ProtocolCost& protocol, bool across, Ports ports);

// The most that a sender moves to each of its peers.
BytesPerSecond rate_of_sender(const Phase& phase, const Communicator& communicator, const Topology& topology,
                              const ProtocolCost& protocol);

// A pattern on these loads, sorted by link. `alone`: what the links leave the slowest communicator, its own messages
// sharing them; `cap`: the rate of a sender. Of a phase with duty < 1 the flow has that share of both, and of the rate
// that an idle network gives.
Pattern limited(std::vector<LinkLoad> loads, BytesPerSecond cap, BytesPerSecond alone, double duty,
                const Topology& topology);

// How fast a flow of duty < 1 on pattern `part` is where it runs in lock step with others, which together load links as
// pattern `whole` does: they send and pause together, and what one leaves of a link none of the others uses.
BytesPerSecond cap_in_step(const Pattern& part, const Pattern& whole, double duty, const Topology& topology);

}  // namespace weft
