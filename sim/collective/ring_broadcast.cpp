// Ring broadcast: the message goes down the chain from member 0.
#include "sim/collective/chain.hpp"

namespace weft::collective {
namespace {

std::vector<Phase> phases_of(std::uint32_t n) { return {chain_phase(n)}; }

}  // namespace

extern const Algorithm ring_broadcast{
    .name = "ring",
    .op = Collective::broadcast,
    .chunks = chain_chunks,
    .phases = phases_of,
    .transfers = chain_transfers,
};

}  // namespace weft::collective
