// Recursive doubling: in every round partners exchange their sums of the whole message. The fewest latencies of all,
// log2(n), for log2(n) times the message: for small messages.
#include "sim/collective/exchange.hpp"

namespace weft::collective {
namespace {

std::vector<Phase> phases_of(const GroupShape& shape) {
    const std::uint32_t n = shape.members;
    const std::uint32_t core = core_of(n);
    std::vector<Phase> phases;
    if (core < n) phases.push_back(fold_phase(n));
    for (std::uint32_t d = 1; d < core; d *= 2) {
        phases.push_back({.peer = Peer::exchange, .distance = d, .span = core, .reduce = true});
    }
    if (core < n) phases.push_back(unfold_phase(n));
    return phases;
}

std::vector<Transfer> transfers_of(const GroupShape& shape) {
    std::vector<Transfer> transfers;
    std::uint32_t round = 0;
    for (const Phase& phase : phases_of(shape)) append_whole_messages(transfers, round++, phase, shape.members, 1);
    return transfers;
}

}  // namespace

extern const Algorithm recursive_doubling_all_reduce{
    .name = "recursive_doubling",
    .op = Collective::all_reduce,
    .chunks = [](const GroupShape&) { return std::uint32_t{1}; },
    .phases = phases_of,
    .transfers = transfers_of,
};

}  // namespace weft::collective
