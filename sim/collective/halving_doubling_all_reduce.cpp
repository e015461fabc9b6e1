// Recursive halving (reduce-scatter), then recursive doubling (all-gather): the ring's 2 (p - 1)/p of the message per
// member in 2 log2(p) rounds.
#include "sim/collective/exchange.hpp"

namespace weft::collective {
namespace {

std::vector<Phase> phases_of(const GroupShape& shape) {
    const std::uint32_t n = shape.members;
    const std::uint32_t core = core_of(n);
    std::vector<Phase> phases;
    if (core < n) phases.push_back(fold_phase(n));
    append_halving(phases, core);
    append_doubling(phases, core);
    if (core < n) phases.push_back(unfold_phase(n));
    return phases;
}

std::vector<Transfer> transfers_of(const GroupShape& shape) {
    const std::uint32_t n = shape.members;
    std::vector<Transfer> transfers;
    std::uint32_t round = 0;
    for (const Phase& phase : phases_of(shape)) {
        if (phase.peer == Peer::exchange) {
            append_block_exchange(transfers, round, phase);
        } else {
            append_whole_messages(transfers, round, phase, n, core_of(n));
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
