// Two-shot all-reduce in a node: every member adds up its piece of all others' messages, then sends the sum to all. Two
// latencies, for the ring's 2 (n - 1)/n of the message.
#include "sim/collective/algorithm.hpp"

namespace weft::collective {
namespace {

std::vector<Phase> phases_of(const GroupShape& shape) {
    const double piece = 1.0 / shape.members;
    return {{.peer = Peer::all, .fraction = piece, .reduce = true}, {.peer = Peer::all, .fraction = piece}};
}

std::vector<Transfer> transfers_of(const GroupShape& shape) {
    std::vector<Transfer> transfers;
    append_all_pairs(transfers, shape.members, true, [](std::uint32_t, std::uint32_t to) { return to; });
    append_all_pairs(transfers, shape.members, false, [](std::uint32_t from, std::uint32_t) { return from; });
    return transfers;
}

}  // namespace

extern const Algorithm two_shot_all_reduce{
    .name = "two_shot",
    .op = Collective::all_reduce,
    .phases = phases_of,
    .transfers = transfers_of,
    .runs = is_in_one_node,
    .order = Order::given,
};

}  // namespace weft::collective
