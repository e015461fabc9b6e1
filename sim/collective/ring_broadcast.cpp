// Ring broadcast: the message goes down the chain from member 0.
#include "sim/collective/chain.hpp"

namespace weft::collective {
namespace {

std::vector<Phase> phases_of(const GroupShape& shape) { return {chain_phase(shape.members)}; }

}  // namespace

extern const Algorithm ring_broadcast{
    .name = "ring",
    .op = Collective::broadcast,
    .chunks = [](const GroupShape& shape) { return chain_chunks(shape.members); },
    .phases = phases_of,
    .transfers = [](const GroupShape& shape) { return chain_transfers(shape.members); },
};

}  // namespace weft::collective
