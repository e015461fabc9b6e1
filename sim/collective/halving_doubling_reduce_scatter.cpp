// Recursive halving: in every round a member keeps half of what it has and sends the other half to its partner.
// Bandwidth-optimal in log2(n) rounds; powers of two only.
#include "sim/collective/exchange.hpp"

namespace weft::collective {
namespace {

std::vector<Phase> phases_of(const GroupShape& shape) {
    std::vector<Phase> phases;
    append_halving(phases, shape.members);
    return phases;
}

}  // namespace

extern const Algorithm halving_doubling_reduce_scatter{
    .name = "halving_doubling",
    .op = Collective::reduce_scatter,
    .chunks = [](const GroupShape& shape) { return shape.members; },
    .phases = phases_of,
    .transfers = [](const GroupShape& shape) { return block_transfers(phases_of(shape)); },
    .runs = is_power_of_two,
};

}  // namespace weft::collective
