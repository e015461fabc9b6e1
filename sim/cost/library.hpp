// A communication library on one machine: what its algorithms cost there, and how it chooses among them. Constants come
// from the machine file; nothing here is fitted to a size or a row.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/collective/algorithm.hpp"
#include "sim/cost/tuner.hpp"

namespace weft {

// One algorithm in one protocol. Algorithms with Needs::reducing_switch have rows only on machines whose switches
// reduce: the row is what says that they do. A message from a rank to a peer takes a `step` of software besides the
// latencies of its links. It reaches `efficiency` of the achievable bandwidth of links in its nodes and of their ports
// (0 < efficiency <= 1): the library's limit, which leaves the rest of them idle. Links between switches are as fast
// for it as for all others.
//
// A phase whose messages have latencies L on the critical path and whose bytes take B on idle links lasts
// (L^p + B^p)^(1/p), p = `overlap`: 1 where each message waits for the one before to be there entirely, more where
// messages are cut into slices that follow one another, so that latency hides behind bytes.
struct ProtocolCost {
    std::string algorithm{};        // "ring"
    std::string protocol{};         // "LL", "LL128", "Simple", "eager", "rendezvous"
    std::vector<Collective> ops{};  // that the row is for; empty: all that the algorithm runs
    Seconds launch{};               // once per call, besides the library's
    Seconds step_in_node{}, step_across{};
    // Of a member that sends to all others at once, for each message: it posts them one after another.
    Seconds post_in_node{}, post_across{};
    // Of a message between nodes, for each channel that carries a part of it: these are posted one after another. There
    // are as many as have `channel_part` each, up to `most_channels`.
    Seconds post_channel{};
    Bytes channel_part{1.0};
    double most_channels = 1.0;
    double efficiency_in_node = 1.0;
    double efficiency_across = 1.0;
    double efficiency_shared = 1.0;  // the same where several groups go through one NIC
    // The most that one member sends per second, however fast its links are: what the protocol's copies reach.
    BytesPerSecond rate_in_node{std::numeric_limits<double>::infinity()};  // of a group inside a node
    BytesPerSecond rate_across{std::numeric_limits<double>::infinity()};   // of a group that spans nodes
    double overlap = 1.0;
    // Messages between two members for which the protocol is made: above `over`, up to `most`.
    Bytes over{-1.0}, most{std::numeric_limits<double>::infinity()};

    bool serves(Collective op) const;
    bool operator==(const ProtocolCost&) const = default;
};

struct Library {
    std::string name{};  // "rccl"
    Seconds launch{};    // once per call, on the device
    Seconds blocking{};  // once per call, on the host, where the caller waits for each call (benchmarks, loggers)
    std::vector<ProtocolCost> costs{};
    std::optional<Tuner> tuner{};  // absent, or not for the operation: the cheapest by `costs` is chosen
    bool in_rank_order = false;    // one channel, in the order of ranks (MPI), and none that are laid along the links

    const ProtocolCost* find(Collective op, std::string_view algorithm, std::string_view protocol) const;  // or null
    bool runs(Collective op) const;  // in groups of some shape
    Order order_of(const Algorithm& algorithm) const { return in_rank_order ? Order::given : algorithm.order; }
    bool operator==(const Library&) const = default;
};

// Algorithms that can run a collective: what the cost row of one may name.
std::vector<std::string> algorithms_of(Collective op);

}  // namespace weft
