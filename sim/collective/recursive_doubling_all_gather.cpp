// Recursive doubling: in every round partners exchange all that they have gathered. Bandwidth-optimal in log2(n)
// rounds; powers of two only.
#include "sim/collective/exchange.hpp"

namespace weft::collective {
namespace {

std::vector<Phase> phases_of(const GroupShape& shape) {
    std::vector<Phase> phases;
    append_doubling(phases, shape.members);
    return phases;
}

}  // namespace

extern const Algorithm recursive_doubling_all_gather{
    .name = "recursive_doubling",
    .op = Collective::all_gather,
    .chunks = [](const GroupShape& shape) { return shape.members; },
    .phases = phases_of,
    .transfers = [](const GroupShape& shape) { return block_transfers(phases_of(shape)); },
    .runs = is_power_of_two,
};

}  // namespace weft::collective
