// All-reduce by switches between nodes that add (CollNet over SHARP: Graham et al., "Scalable hierarchical aggregation
// protocol (SHARP): a hardware architecture for efficient data reduction", COMHPC 2016): members of a node reduce and
// scatter by a ring, each sends its 1/per_node of the message into the network once and receives the sum, and a ring
// gathers the pieces. Between nodes two messages in a row, up and down, however many nodes there are.
#include "sim/collective/rings.hpp"

namespace weft::collective {
namespace {

// What a member's links carry to and from the switches, as traffic to its like in the next node.
Phase switches_between_nodes(const GroupShape& shape) {
    const std::uint32_t m = shape.per_node();
    return {.distance = m, .fraction = 1.0 / m, .hops = 2, .reduce = true};
}

std::vector<Phase> collnet_phases(const GroupShape& shape) {
    if (shape.per_node() == 1) return {switches_between_nodes(shape)};
    return {ring_phase(shape, scatter_in_node), switches_between_nodes(shape), ring_phase(shape, gather_in_node)};
}

// What the switches do for member c, which stands for them: they add up chunk c, and copy the sum to all.
void append_switches(std::vector<Transfer>& transfers, const GroupShape& shape, bool reduce) {
    const std::uint32_t n = shape.members, m = shape.per_node(), round = rounds_of(transfers);
    for (std::uint32_t c = 0; c < n; ++c) {
        for (std::uint32_t i = c % m; i < n; i += m) {
            if (i != c) transfers.push_back({round, reduce ? i : c, reduce ? c : i, c, reduce});
        }
    }
}

std::vector<Transfer> collnet_transfers(const GroupShape& shape) {
    std::vector<Transfer> transfers;
    append_ring(transfers, shape, scatter_in_node);
    append_switches(transfers, shape, true);
    append_switches(transfers, shape, false);
    append_ring(transfers, shape, gather_in_node);
    return transfers;
}

}  // namespace

extern const Algorithm collnet_all_reduce{
    .name = "collnet",
    .op = Collective::all_reduce,
    .phases = collnet_phases,
    .transfers = collnet_transfers,
    .runs = [](const GroupShape& shape) { return shape.even && shape.nodes > 1; },
    .order = Order::trees,
    .needs = Needs::reducing_switch,
};

}  // namespace weft::collective
