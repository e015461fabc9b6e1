#include "sim/collective/algorithm.hpp"

#include <algorithm>

#include "sim/base/check.hpp"
#include "sim/base/enumerators.hpp"

namespace weft {

std::string_view name(Collective op) { return enumerator_name(op); }

std::uint32_t peer_of(const Phase& phase, std::uint32_t i, std::uint32_t n) {
    switch (phase.peer) {
        case Peer::shift:
            return static_cast<std::uint32_t>((std::uint64_t{i} + phase.distance) % n);
        case Peer::shift_in_span: {
            const std::uint32_t first = i - i % phase.span;
            return first + (i - first + phase.distance) % phase.span;
        }
        case Peer::chain:
            return i + 1;  // n for the last
        case Peer::exchange:
            return i < phase.span ? i ^ phase.distance : n;
        case Peer::fold:
            return i >= phase.distance ? i - phase.distance : n;
        case Peer::unfold:
            return i < n - phase.distance ? i + phase.distance : n;
        case Peer::grow:
            return i < phase.distance && i + phase.distance < n ? i + phase.distance : n;
        case Peer::shrink: {
            const std::uint64_t to = std::uint64_t{i} + phase.distance;
            return to < n && to + phase.distance >= n ? static_cast<std::uint32_t>(to) : n;
        }
        case Peer::all:
        case Peer::listed:
            break;
    }
    throw LogicError("in this phase a member may have several peers");
}

double weight_of(const Phase& phase, std::uint32_t i) {
    if (phase.doubled == 0) return 1.0;
    const std::uint32_t d = phase.distance;
    const std::uint32_t first = (phase.reduce ? i ^ d : i) / d * d;
    const std::uint32_t twice = phase.doubled > first ? std::min(phase.doubled - first, d) : 0;
    return 1.0 + static_cast<double>(twice) / d;
}

void append_whole_messages(std::vector<Transfer>& transfers, std::uint32_t round, const Phase& phase, std::uint32_t n,
                           std::uint32_t chunks) {
    for (std::uint32_t i = 0; i < n; ++i) {
        const std::uint32_t peer = peer_of(phase, i, n);
        if (peer == n) continue;
        for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
            transfers.push_back({round, i, peer, chunk, phase.reduce});
        }
    }
}

std::vector<Transfer> whole_messages(const std::vector<Phase>& phases, std::uint32_t n) {
    std::vector<Transfer> transfers;
    for (const Phase& phase : phases) append_whole_messages(transfers, rounds_of(transfers), phase, n, 1);
    return transfers;
}

const Algorithm* find_algorithm(Collective op, std::string_view name) {
    return first_of(collective::all(), [&](const Algorithm* each) { return each->op == op && each->name == name; });
}

}  // namespace weft
