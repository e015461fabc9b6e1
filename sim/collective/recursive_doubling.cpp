// Recursive doubling: in every round partners exchange all that they have, log2(n) rounds.
#include "sim/collective/exchange.hpp"

namespace weft::collective {
namespace {

std::vector<Phase> gather_phases(const GroupShape& shape) {
    std::vector<Phase> phases;
    append_doubling(phases, shape.members);
    return phases;
}

std::vector<Phase> reduce_phases(const GroupShape& shape) {
    const std::uint32_t core = core_of(shape.members);
    std::vector<Phase> phases;
    for (std::uint32_t d = 1; d < core; d *= 2) {
        phases.push_back({.peer = Peer::exchange, .distance = d, .span = core, .reduce = true});
    }
    return folded(std::move(phases), shape.members);
}

}  // namespace

// Of all that they have gathered. Bandwidth-optimal; powers of two only.
extern const Algorithm recursive_doubling_all_gather{
    .name = "recursive_doubling",
    .op = Collective::all_gather,
    .phases = gather_phases,
    .transfers =
        [](const GroupShape& shape) {
            std::vector<Transfer> transfers;
            for (const Phase& phase : gather_phases(shape)) {
                append_block_exchange(transfers, rounds_of(transfers), phase);
            }
            return transfers;
        },
    .runs = [](const GroupShape& shape) { return std::has_single_bit(shape.members); },
};

// Of their sums of the whole message. The fewest latencies of all, log2(n), for log2(n) times the message: for small
// messages.
extern const Algorithm recursive_doubling_all_reduce{
    .name = "recursive_doubling",
    .op = Collective::all_reduce,
    .chunks = one_chunk,
    .phases = reduce_phases,
    .transfers = [](const GroupShape& shape) { return whole_messages(reduce_phases(shape), shape.members); },
};

}  // namespace weft::collective
