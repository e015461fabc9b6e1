// All-reduce on trees, as NCCL lays them: a chain inside every node down to the member at the NIC, two binary trees
// over the nodes with half of the message in each. Sums go up and results come down in small chunks, all links working
// at once: latency grows with the logarithm of the nodes, and a node sends the message once, whatever their number.
#include <algorithm>

#include "sim/collective/algorithm.hpp"
#include "sim/collective/double_tree.hpp"
#include "sim/collective/rings.hpp"

namespace weft::collective {
namespace {

std::vector<Phase> double_tree_phases(const GroupShape& shape) {
    const std::uint32_t m = shape.in_first(), nodes = shape.blocks_of_first();
    std::vector<Phase> phases{
        {.peer = Peer::listed, .hops = 2 * (m - 1), .hops_across = 2 * double_tree_depth(nodes), .reduce = true}};
    std::vector<Edge>& edges = phases.front().edges;
    for (std::uint32_t i = 0; i < shape.members; ++i) {
        if (i % m == 0) continue;
        edges.push_back({i, i - 1, 1.0});
        edges.push_back({i - 1, i, 1.0});
    }
    append_tree_edges(edges, nodes, m, 1, 0.5);
    return phases;
}

std::vector<Transfer> double_tree_transfers(const GroupShape& shape) {
    const std::uint32_t m = shape.in_first(), nodes = shape.blocks_of_first();
    std::vector<Transfer> transfers;
    const auto chain = [&](std::uint32_t from, std::uint32_t to, bool reduce) {
        const std::uint32_t round = rounds_of(transfers);
        for (std::uint32_t node = 0; node < nodes; ++node) {
            if (node * m + std::max(from, to) >= shape.members) continue;  // the last may have fewer
            for (const std::uint32_t half : {0U, 1U}) {
                transfers.push_back({round, node * m + from, node * m + to, half, reduce});
            }
        }
    };
    for (std::uint32_t i = m - 1; i > 0; --i) chain(i, i - 1, true);
    for (std::uint32_t d = double_tree_depth(nodes); d > 0; --d) append_tree_level(transfers, nodes, m, 1, d, true);
    for (std::uint32_t d = 1; d <= double_tree_depth(nodes); ++d) append_tree_level(transfers, nodes, m, 1, d, false);
    for (std::uint32_t i = 1; i < m; ++i) chain(i - 1, i, false);
    return transfers;
}

}  // namespace

extern const Algorithm tree_all_reduce{
    .name = "tree",
    .op = Collective::all_reduce,
    .chunks = [](const GroupShape&) { return std::uint32_t{2}; },
    .phases = double_tree_phases,
    .transfers = double_tree_transfers,
    .order = Order::trees,
};

// All-reduce by switches between nodes that add (CollNet over SHARP: Graham et al., "Scalable hierarchical aggregation
// protocol (SHARP): a hardware architecture for efficient data reduction", COMHPC 2016): members of a node reduce and
// scatter by a ring, each sends its 1/per_node of the message into the network once and receives the sum, and a ring
// gathers the pieces. Between nodes two messages in a row, up and down, however many nodes there are.

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
