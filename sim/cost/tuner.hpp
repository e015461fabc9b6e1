// How a library chooses. MPI libraries decide by conditions (decision.hpp). RCCL and NCCL choose an algorithm and a
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
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/collective/algorithm.hpp"
#include "sim/cost/decision.hpp"

namespace weft {

// A constant of groups on one or two nodes, and on more.
template <class T>
struct ByNodes {
    T few{}, many{};
    const T& of(std::uint32_t nodes) const { return nodes <= 2 ? few : many; }
    bool operator==(const ByNodes&) const = default;
};

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
    bool serves(Collective op) const;
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

}  // namespace weft
