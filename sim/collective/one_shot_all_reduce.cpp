// One-shot all-reduce in a node: every member sends the whole message to every other one, and each adds for itself. One
// latency, for n - 1 times the message: for the smallest ones.
#include "sim/collective/algorithm.hpp"

namespace weft::collective {

extern const Algorithm one_shot_all_reduce{
    .name = "one_shot",
    .op = Collective::all_reduce,
    .chunks = one_chunk,
    .phases = [](const GroupShape&) { return std::vector{Phase{.peer = Peer::all, .reduce = true}}; },
    .transfers =
        [](const GroupShape& shape) {
            std::vector<Transfer> transfers;
            append_all_pairs(transfers, shape.members, true, [](std::uint32_t, std::uint32_t) { return 0U; });
            return transfers;
        },
    .runs = is_in_one_node,
    .order = Order::given,
};

}  // namespace weft::collective
