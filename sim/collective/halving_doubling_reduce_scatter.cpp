// Recursive halving: in every round a member keeps half of what it has and sends the other half to its partner.
// Bandwidth-optimal in log2(n) rounds where n is a power of two. Members beyond one first send all they have to a
// partner and get their sum from it last.
#include <cstddef>

#include "sim/collective/exchange.hpp"

namespace weft::collective {
namespace {

std::vector<Phase> phases_of(const GroupShape& shape) {
    const std::uint32_t n = shape.members, core = core_of(n);
    std::vector<Phase> phases;
    if (core < n) phases.push_back(fold_phase(n));
    for (std::uint32_t d = core / 2; d > 0; d /= 2) {
        Phase phase = block_exchange(core, d, true);
        phase.fraction = static_cast<double>(d) / n;
        phase.doubled = n - core;
        phases.push_back(phase);
    }
    if (core < n) {
        phases.push_back(unfold_phase(n));
        phases.back().fraction = 1.0 / n;
    }
    return phases;
}

// Chunks of the core's members, and in the same messages those of the members beyond it that their partners keep.
std::vector<Transfer> transfers_of(const GroupShape& shape) {
    const std::uint32_t n = shape.members, core = core_of(n);
    std::vector<Transfer> transfers;
    std::uint32_t round = 0;
    for (const Phase& phase : phases_of(shape)) {
        if (phase.peer == Peer::fold) append_whole_messages(transfers, round, phase, n, n);
        if (phase.peer == Peer::unfold) {
            for (std::uint32_t i = core; i < n; ++i) transfers.push_back({round, i - core, i, i, false});
        }
        if (phase.peer == Peer::exchange) {
            append_block_exchange(transfers, round, phase);
            for (std::size_t t = transfers.size(); t-- > 0 && transfers[t].round == round;) {
                Transfer beyond = transfers[t];
                beyond.chunk += core;
                if (beyond.chunk < n) transfers.push_back(beyond);
            }
        }
        ++round;
    }
    return transfers;
}

}  // namespace

extern const Algorithm halving_doubling_reduce_scatter{
    .name = "halving_doubling",
    .op = Collective::reduce_scatter,
    .chunks = [](const GroupShape& shape) { return shape.members; },
    .phases = phases_of,
    .transfers = transfers_of,
};

}  // namespace weft::collective
