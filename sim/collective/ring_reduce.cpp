// Ring reduce: every member adds its own contribution to what comes down the chain; the last one has the sum.
#include "sim/collective/chain.hpp"

namespace weft::collective {
namespace {

std::vector<Phase> phases_of(const GroupShape& shape) {
    const std::uint32_t n = shape.members;
    Phase phase = chain_phase(n);
    phase.reduce = true;
    return {phase};
}

std::vector<Transfer> transfers_of(const GroupShape& shape) {
    const std::uint32_t n = shape.members;
    std::vector<Transfer> transfers = chain_transfers(n);
    for (Transfer& transfer : transfers) transfer.reduce = true;
    return transfers;
}

}  // namespace

extern const Algorithm ring_reduce{
    .name = "ring",
    .op = Collective::reduce,
    .chunks = [](const GroupShape& shape) { return chain_chunks(shape.members); },
    .phases = phases_of,
    .transfers = transfers_of,
};

}  // namespace weft::collective
