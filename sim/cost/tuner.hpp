// How a library chooses. MPI libraries decide by conditions (decision.hpp). RCCL and NCCL choose an algorithm and a
// protocol by a time that they predict from tables of constants (src/graph/tuning.cc of both). The tables were tuned to
// choose well, not to predict well: what a choice really takes is the library's ProtocolCost.
//
//   time = base + latency + bytes / bandwidth
//   ring latency  (s - k) max(in_node, post) + k across     s = 2 (n - 1) for all-reduce, n - 1 for all-gather and
//                                                           reduce-scatter, n otherwise; k of the steps cross nodes
//   tree latency  2 ((n/N - 1) in_node + floor(log2 N) across)
//   bandwidth     bus x ratio x correction(floor(log2(bytes / 64))) x (n / s for a ring, 1/2 for a tree)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/collective/algorithm.hpp"
#include "sim/cost/decision.hpp"

namespace weft {

struct TunerRow {
    std::string algorithm{};  // "ring" or "tree"
    std::string protocol{};
    Seconds base{}, in_node{}, across{};
    Seconds post{};                    // a message's least time in a node of a group that spans nodes
    double ratio_few = 1.0;            // of the bus bandwidth, on one or two nodes
    double ratio_many = 1.0;           // on more
    std::vector<double> correction{};  // by size; the last stands for all larger; empty: 1
    double ratio(std::uint32_t nodes) const { return nodes <= 2 ? ratio_few : ratio_many; }
    bool operator==(const TunerRow&) const = default;
};

struct TunerTable {
    BytesPerSecond bus{};  // channels x speed of one, as the library believes
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

Seconds predicted_time(const TunerTable& table, const TunerRow& row, Collective op, const GroupShape& shape,
                       Bytes message);

}  // namespace weft
