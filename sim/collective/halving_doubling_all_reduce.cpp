// Recursive halving (reduce-scatter), then recursive doubling (all-gather): the ring's 2 (p - 1)/p of the message per
// member in 2 log2(p) rounds. Members beyond the largest power of two p fold their contribution into a partner first
// and get the result from it last (Thakur, Rabenseifner, Gropp, Int. J. High Perform. Comput. Appl. 19 (2005) 49-66).
#include <bit>

#include "sim/collective/algorithm.hpp"

namespace weft::collective {
namespace {

std::uint32_t core_of(std::uint32_t n) { return std::bit_floor(n); }

// In a round of distance d, aligned blocks of d chunks change hands: d/p of the message.
Phase exchange_phase(std::uint32_t core, std::uint32_t distance, bool reduce) {
    return {.peer = Peer::exchange,
            .distance = distance,
            .span = core,
            .fraction = static_cast<double>(distance) / core,
            .reduce = reduce};
}

std::vector<Phase> phases_of(const GroupShape& shape) {
    const std::uint32_t n = shape.members;
    const std::uint32_t core = core_of(n);
    std::vector<Phase> phases;
    if (core < n) phases.push_back({.peer = Peer::fold, .distance = core, .reduce = true});
    for (std::uint32_t d = core / 2; d > 0; d /= 2) phases.push_back(exchange_phase(core, d, true));
    for (std::uint32_t d = 1; d < core; d *= 2) phases.push_back(exchange_phase(core, d, false));
    if (core < n) phases.push_back({.peer = Peer::unfold, .distance = core});
    return phases;
}

// Before a doubling round of distance d, member i holds the aligned block of d chunks that contains i, and sends it;
// a halving round is the mirror image: it sends the block that its partner is to keep.
void append_exchange(std::vector<Transfer>& transfers, std::uint32_t round, const Phase& phase) {
    const std::uint32_t d = phase.distance;
    for (std::uint32_t i = 0; i < phase.span; ++i) {
        const std::uint32_t partner = i ^ d;
        const std::uint32_t first = (phase.reduce ? partner : i) / d * d;
        for (std::uint32_t chunk = first; chunk < first + d; ++chunk) {
            transfers.push_back({round, i, partner, chunk, phase.reduce});
        }
    }
}

void append_whole_messages(std::vector<Transfer>& transfers, std::uint32_t round, const Phase& phase, std::uint32_t n) {
    for (std::uint32_t i = 0; i < n; ++i) {
        const std::uint32_t peer = peer_of(phase, i, n);
        if (peer == n) continue;
        for (std::uint32_t chunk = 0; chunk < core_of(n); ++chunk) {
            transfers.push_back({round, i, peer, chunk, phase.reduce});
        }
    }
}

std::vector<Transfer> transfers_of(const GroupShape& shape) {
    const std::uint32_t n = shape.members;
    std::vector<Transfer> transfers;
    std::uint32_t round = 0;
    for (const Phase& phase : phases_of(shape)) {
        if (phase.peer == Peer::exchange) {
            append_exchange(transfers, round, phase);
        } else {
            append_whole_messages(transfers, round, phase, n);
        }
        ++round;
    }
    return transfers;
}

}  // namespace

extern const Algorithm halving_doubling_all_reduce{
    .name = "halving_doubling",
    .op = Collective::all_reduce,
    .chunks = [](const GroupShape& shape) { return core_of(shape.members); },
    .phases = phases_of,
    .transfers = transfers_of,
};

}  // namespace weft::collective
