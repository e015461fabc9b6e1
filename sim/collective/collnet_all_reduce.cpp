// All-reduce by switches between nodes that add (CollNet over SHARP: Graham et al., "Scalable hierarchical aggregation
// protocol (SHARP): a hardware architecture for efficient data reduction", COMHPC 2016): members of a node reduce and
// scatter by a ring, each sends its 1/per_node of the message into the network once and receives the sum, and a ring
// gathers the pieces. Between nodes two messages in a row, up and down, however many nodes there are.
#include "sim/collective/two_level.hpp"

namespace weft::collective {
namespace {

// What a member's links carry to and from the switches, as traffic to its like in the next node.
Phase switches_between_nodes(const GroupShape& shape) {
    const std::uint32_t m = shape.per_node();
    return {.distance = m, .fraction = 1.0 / m, .hops = 2, .reduce = true};
}

std::vector<Phase> phases_of(const GroupShape& shape) {
    if (shape.per_node() == 1) return {switches_between_nodes(shape)};
    return {ring_in_node(shape, true), switches_between_nodes(shape), ring_in_node(shape, false)};
}

// What the switches do for member c, which stands for them: they add up chunk c, and copy the sum to all.
void append_switches(std::vector<Transfer>& transfers, const GroupShape& shape, std::uint32_t round, bool reduce) {
    const std::uint32_t n = shape.members, m = shape.per_node();
    for (std::uint32_t c = 0; c < n; ++c) {
        for (std::uint32_t i = c % m; i < n; i += m) {
            if (i != c) transfers.push_back({round, reduce ? i : c, reduce ? c : i, c, reduce});
        }
    }
}

std::vector<Transfer> transfers_of(const GroupShape& shape) {
    const std::uint32_t in_node = shape.per_node() - 1;
    std::vector<Transfer> transfers;
    append_ring_in_node(transfers, shape, 0, true);
    append_switches(transfers, shape, in_node, true);
    append_switches(transfers, shape, in_node + 1, false);
    append_ring_in_node(transfers, shape, in_node + 2, false);
    return transfers;
}

}  // namespace

extern const Algorithm collnet_all_reduce{
    .name = "collnet",
    .op = Collective::all_reduce,
    .chunks = [](const GroupShape& shape) { return shape.members; },
    .phases = phases_of,
    .transfers = transfers_of,
    .runs = [](const GroupShape& shape) { return shape.even && shape.nodes > 1; },
    .order = Order::trees,
    .needs = Needs::reducing_switch,
};

}  // namespace weft::collective
