// Recursive halving: in every round a member keeps half of what it has and sends the other half to its partner, log2(n)
// rounds.
#include <cstddef>

#include "sim/collective/exchange.hpp"

namespace weft::collective {
namespace {

// The ring's 2 (p - 1)/p of the message per member of the core in 2 log2(p) rounds.
std::vector<Phase> reduce_phases(const GroupShape& shape) {
    const std::uint32_t core = core_of(shape.members);
    std::vector<Phase> phases;
    for (std::uint32_t d = core / 2; d > 0; d /= 2) phases.push_back(block_exchange(core, d, true));
    append_doubling(phases, core);
    return folded(std::move(phases), shape.members);
}

std::vector<Transfer> reduce_transfers(const GroupShape& shape) {
    std::vector<Transfer> transfers;
    for (const Phase& phase : reduce_phases(shape)) {
        const std::uint32_t round = rounds_of(transfers);
        if (phase.peer == Peer::exchange) {
            append_block_exchange(transfers, round, phase);
        } else {
            append_whole_messages(transfers, round, phase, shape.members, core_of(shape.members));
        }
    }
    return transfers;
}

std::vector<Phase> scatter_phases(const GroupShape& shape) {
    const std::uint32_t n = shape.members, core = core_of(n);
    std::vector<Phase> phases;
    for (std::uint32_t d = core / 2; d > 0; d /= 2) {
        Phase phase = block_exchange(core, d, true);
        phase.fraction = static_cast<double>(d) / n;
        phase.doubled = n - core;
        phases.push_back(phase);
    }
    phases = folded(std::move(phases), n);
    if (core < n) phases.back().fraction = 1.0 / n;
    return phases;
}

// Chunks of the core's members, and in the same messages those of the members beyond it that their partners keep.
std::vector<Transfer> scatter_transfers(const GroupShape& shape) {
    const std::uint32_t n = shape.members, core = core_of(n);
    std::vector<Transfer> transfers;
    for (const Phase& phase : scatter_phases(shape)) {
        const std::uint32_t round = rounds_of(transfers);
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
    }
    return transfers;
}

}  // namespace

// A reduce-scatter, then an all-gather by recursive doubling.
extern const Algorithm halving_doubling_all_reduce{
    .name = "halving_doubling",
    .op = Collective::all_reduce,
    .chunks = [](const GroupShape& shape) { return core_of(shape.members); },
    .phases = reduce_phases,
    .transfers = reduce_transfers,
};

// Bandwidth-optimal where n is a power of two. Members beyond one first send all they have to a partner and get their
// sum from it last.
extern const Algorithm halving_doubling_reduce_scatter{
    .name = "halving_doubling",
    .op = Collective::reduce_scatter,
    .phases = scatter_phases,
    .transfers = scatter_transfers,
};

}  // namespace weft::collective
