// What the phases of an algorithm move between members, to compare with its transfers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "sim/collective/algorithm.hpp"

namespace weft::testing_support {

using Pair = std::pair<std::uint32_t, std::uint32_t>;
using Traffic = std::map<Pair, double>;  // in messages

// What a phase moves between each pair, if a sender moves `share` of the message to each of its peers.
inline Traffic traffic_of(const Phase& phase, std::uint32_t n, double share) {
    Traffic traffic;
    for (const Edge& edge : phase.edges) traffic[{edge.from, edge.to}] += share * edge.weight;
    if (phase.peer == Peer::listed) return traffic;
    for (std::uint32_t i = 0; i < n; ++i) {
        if (phase.peer == Peer::all) {
            for (std::uint32_t j = 0; j < n; ++j) {
                if (j != i) traffic[{i, j}] += share;
            }
        } else if (const std::uint32_t peer = peer_of(phase, i, n); peer < n) {
            traffic[{i, peer}] += share * weight_of(phase, i);
        }
    }
    return traffic;
}

inline void expect_same(const Traffic& phases, const Traffic& transfers) {
    ASSERT_EQ(phases.size(), transfers.size());
    for (const auto& [pair, moved] : phases) {
        ASSERT_TRUE(transfers.contains(pair)) << pair.first << " to " << pair.second;
        EXPECT_NEAR(moved, transfers.at(pair), 1e-9) << pair.first << " to " << pair.second;
    }
}

// All links of a listed phase work at once on small chunks; the transfers spell the rounds of one chunk.
inline bool is_pipeline_of_rounds(const std::vector<Phase>& phases) {
    return std::any_of(phases.begin(), phases.end(), [](const Phase& phase) { return phase.peer == Peer::listed; });
}

// What transfers inside nodes load a member's link with where a switch adds and copies: a sum enters its owner once,
// for which the switch reads every member's part, the owner's too; a copy leaves its owner once and enters every
// member. The busier direction, in messages; the same for all members.
inline double switched_load(const std::vector<Transfer>& transfers, const GroupShape& shape, double chunks) {
    using Piece = std::pair<std::uint32_t, std::uint32_t>;    // owner or member, chunk
    std::map<std::uint32_t, std::set<Piece>> sent, received;  // by round
    for (const Transfer& t : transfers) {
        if (t.from / shape.per_node() != t.to / shape.per_node()) continue;
        const std::uint32_t owner = t.reduce ? t.to : t.from;
        sent[t.round].insert({t.from, t.chunk});
        received[t.round].insert({t.to, t.chunk});
        (t.reduce ? sent : received)[t.round].insert({owner, t.chunk});
    }
    double out = 0.0, in = 0.0;
    for (const auto& [round, pieces] : sent) out += static_cast<double>(pieces.size()) / chunks / shape.members;
    for (const auto& [round, pieces] : received) in += static_cast<double>(pieces.size()) / chunks / shape.members;
    return std::max(out, in);
}

// Where the switches between nodes add: what a member contributes to sums enters the network once, and each sum leaves
// it once; the rounds inside nodes agree.
inline void expect_switched_between_nodes(const std::vector<Phase>& phases, const std::vector<Transfer>& transfers,
                                          const GroupShape& shape, const Algorithm& algorithm) {
    const double chunks = algorithm.chunks(shape);
    std::map<std::uint32_t, Traffic> by_round;
    std::map<std::uint32_t, std::set<Pair>> contributions;  // by round: member and chunk
    for (const Transfer& t : transfers) {
        by_round[t.round][{t.from, t.to}] += 1.0 / chunks;
        contributions[t.round].insert({t.from, t.chunk});
        contributions[t.round].insert({t.to, t.chunk});
    }
    std::uint32_t round = 0;
    for (const Phase& phase : phases) {
        for (std::uint32_t r = 0; phase.peer == Peer::shift_in_span && r < phase.repeat; ++r) {
            expect_same(traffic_of(phase, shape.members, phase.fraction), by_round[round++]);
        }
        if (phase.peer == Peer::shift_in_span) continue;
        for (const std::uint32_t way : {round++, round++}) {  // into the network, out of it
            EXPECT_NEAR(static_cast<double>(contributions[way].size()) / chunks, phase.fraction * shape.members, 1e-9);
        }
    }
    EXPECT_EQ(by_round.size(), round) << "as many rounds in both forms";
}

// In its node every member sends to one neighbour what a switch would have its links carry; between nodes the forms
// agree.
inline void expect_switched(const std::vector<Phase>& phases, const std::vector<Transfer>& transfers,
                            const GroupShape& shape, const Algorithm& algorithm) {
    if (algorithm.name == "collnet") return expect_switched_between_nodes(phases, transfers, shape, algorithm);
    ASSERT_EQ(phases.size(), 1u);
    const double chunks = algorithm.chunks(shape);
    Traffic expected;
    for (const Transfer& t : transfers) {
        if (t.from / shape.per_node() != t.to / shape.per_node()) expected[{t.from, t.to}] += 1.0 / chunks;
    }
    for (std::uint32_t i = 0; i < shape.members; ++i) {
        const std::uint32_t first = i - i % shape.per_node();
        expected[{i, first + (i + 1 - first) % shape.per_node()}] = switched_load(transfers, shape, chunks);
    }
    expect_same(traffic_of(phases.front(), shape.members, phases.front().volume()), expected);
}

// What the member that sends most sends in all phases, or receives, whichever is more: what the simulation makes of
// the phases where every member has one link each way. In messages, waits of a chain included.
inline double duration(const std::vector<Phase>& phases, std::uint32_t n) {
    double sum = 0.0;
    for (const Phase& phase : phases) {
        std::vector<double> sent(n), received(n);
        for (const auto& [pair, moved] : traffic_of(phase, n, phase.volume() / phase.duty)) {
            sent[pair.first] += moved;
            received[pair.second] += moved;
        }
        sum +=
            std::max(*std::max_element(sent.begin(), sent.end()), *std::max_element(received.begin(), received.end()));
    }
    return sum;
}

}  // namespace weft::testing_support
