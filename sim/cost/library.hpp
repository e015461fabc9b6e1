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

namespace weft {

// Whether a row that names `ops` is for a collective; one that names none is for all.
bool serves(const std::vector<Collective>& ops, Collective op);

// How MPI libraries choose an algorithm: by a list of conditions, of which the first that holds decides.
struct Decision {
    enum class Where : std::uint8_t { anywhere, in_node, across };

    std::string algorithm{};
    std::vector<Collective> ops{};
    std::uint32_t least_members = 0, most_members = std::numeric_limits<std::uint32_t>::max();
    bool power_of_two = false;      // of members, and no other number
    Where where = Where::anywhere;  // groups inside a node, or that span nodes
    Bytes over{-1.0};               // of the full message: above this
    Bytes most{std::numeric_limits<double>::infinity()};

    bool holds(Collective op, const GroupShape& shape, Bytes message) const;
    bool operator==(const Decision&) const = default;
};

// A constant of groups on one or two nodes, and on more.
template <class T>
struct ByNodes {
    T few{}, many{};
    const T& of(std::uint32_t nodes) const { return nodes <= 2 ? few : many; }
    bool operator==(const ByNodes&) const = default;
};

// How a library chooses. MPI libraries decide by conditions (Decision). RCCL and NCCL choose an algorithm and a
// protocol by a time that they predict from tables of constants (src/graph/tuning.cc of both). The tables were tuned to
// choose well, not to predict well: what a choice really takes is the library's ProtocolCost.
//
//   time = base + latency + bytes / bandwidth, of n members on N nodes
//   ring latency  (s - k) max(in_node, post) + k across, and with the base x plateau
//                 s = 2 (n - 1) for all-reduce, n - 1 for all-gather and reduce-scatter, n otherwise; k of them cross
//   tree          2 ((n/N - 1) in_node + floor(log2 N) across)
//   NVLS, on one node and as a tree of nodes     in_node;  in_node + 2 floor(log2 N) across
//   PAT           n in_node + floor(log2 N) across
//   bandwidth     min(bus x ratio, most, channel x channels) x correction(floor(log2(bytes / 64)))
//                 x n / s for a ring and NVLS, 1/2 for a tree; for NVLS on one node x (n - 1) / n besides
struct TunerRow {
    static constexpr BytesPerSecond unlimited{std::numeric_limits<double>::infinity()};

    std::string algorithm{};  // "ring", "tree", "nvls", "nvls_tree" or "pat"
    std::string protocol{};
    std::vector<Collective> ops{};  // that the library has it for; empty: all
    Seconds base{}, in_node{}, across{};
    std::optional<Seconds> across_alone{};  // of a ring with one member on each node; absent: as `across`
    Seconds post{};                         // a message's least time in a node of a group that spans nodes
    double plateau = 1.0;                   // of an all-reduce across nodes
    ByNodes<double> ratio{1.0, 1.0};        // of the bus bandwidth
    ByNodes<BytesPerSecond> most{unlimited, unlimited};
    ByNodes<BytesPerSecond> channel{unlimited, unlimited};  // of one channel; each member of a node has one
    std::vector<double> correction{};                       // by size; the last stands for all larger; empty: 1
    bool serves(Collective op) const { return weft::serves(ops, op); }
    bool operator==(const TunerRow&) const = default;
};

struct TunerTable {
    // Channels x speed of one, as the library believes; absent: what a ring of the group alone reaches in Simple.
    std::optional<BytesPerSecond> bus{};
    std::uint32_t doubled_up_to = 0;  // members of a node have two channels each of rings and trees if they are so few
    std::uint32_t extra_across = 0;   // steps across nodes that it counts besides the 2 (N - 1) of an all-reduce's ring
    std::vector<TunerRow> rows{};
    bool operator==(const TunerTable&) const = default;
};

struct Tuner {
    TunerTable in_node{}, across{};     // for groups inside a node, and for the others
    std::vector<Decision> decisions{};  // before the tables

    const TunerTable& table(const GroupShape& shape) const { return shape.nodes == 1 ? in_node : across; }
    bool operator==(const Tuner&) const = default;
};

// Whether libraries choose by predicted times for it. Sends and receives, and all-to-all that consists of them, have
// none.
bool is_predicted(Collective op);

// Rounds of a ring of n members.
std::uint32_t ring_rounds(Collective op, std::uint32_t n);

Seconds predicted_time(const TunerTable& table, const TunerRow& row, BytesPerSecond bus, Collective op,
                       const GroupShape& shape, Bytes message);

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
    // Of algorithms that work a message off in loops: what each of `most_channels` takes for each head at a time, at
    // most. It is halved for messages of fewer loops than the first of these, and again for fewer than the next. In
    // nodes a loop takes (L^p + B^p)^(1/p), p = `overlap`, with L post_in_node for each head; the way between nodes may
    // take longer. 0: not cut.
    Bytes chunk{};
    std::vector<double> halved_below{};
    double efficiency_in_node = 1.0;
    double efficiency_across = 1.0;
    double efficiency_shared = 1.0;  // the same where several groups go through one NIC
    // The most that one member sends per second, however fast its links are: what the protocol's copies reach.
    BytesPerSecond rate_in_node{std::numeric_limits<double>::infinity()};  // of a group inside a node
    BytesPerSecond rate_across{std::numeric_limits<double>::infinity()};   // of a group that spans nodes
    double overlap = 1.0;
    // Messages between two members for which the protocol is made: above `over`, up to `most`.
    Bytes over{-1.0}, most{std::numeric_limits<double>::infinity()};

    bool serves(Collective op) const { return weft::serves(ops, op); }
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
