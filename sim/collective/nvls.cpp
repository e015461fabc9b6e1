// Collectives by a switch that reads, adds and copies (NVLink SHARP). Member i is in charge of piece i: reading it
// reduced (multimem.ld_reduce), the switch fetches it from all members and hands on one sum; storing it (multimem.st),
// the switch copies it to all. So with every reduced read each member sends the whole message and receives 1/n of it,
// and with every store the reverse (NVIDIA, PTX ISA, "multimem"; Klenk et al., "An in-network architecture for
// accelerating shared-memory multiprocessor collectives", ISCA 2020, 996-1009).
#include <algorithm>

#include "sim/collective/double_tree.hpp"
#include "sim/collective/rings.hpp"

namespace weft::collective {
namespace {

// Every piece from or to all members, what the switch does for its owner, in each block of `per_node` members: chunk c
// belongs to place c / `chunks_each`.
void append_switch_round(std::vector<Transfer>& transfers, const GroupShape& shape, std::uint32_t chunks_each,
                         bool reduce) {
    const std::uint32_t m = shape.per_node(), round = rounds_of(transfers);
    for (std::uint32_t i = 0; i < shape.members; ++i) {
        const std::uint32_t node = i - i % m;
        for (std::uint32_t chunk = 0; chunk < m * chunks_each; ++chunk) {
            const std::uint32_t owner = node + chunk / chunks_each;
            if (owner == i) continue;
            transfers.push_back({round, reduce ? i : owner, reduce ? owner : i, chunk, reduce});
        }
    }
}

// The members of a node that are in charge of pieces: no more than this (NCCL, NCCL_MAX_NVLS_ARITY).
std::uint32_t heads_of(std::uint32_t members) { return std::min(members, std::uint32_t{32}); }

// What the busier direction of a head's links carries, as traffic to a neighbour through the switch: all of the
// message, and its own piece besides where heads read and store. A loop is copied to where the switch reads, passes the
// switch and is copied to where it belongs: three stages.
template <bool... reduces>
std::vector<Phase> switch_phases(const GroupShape& shape) {
    constexpr std::uint32_t passes = sizeof...(reduces);
    const std::uint32_t heads = heads_of(shape.members);
    const double fraction = passes > 1 ? 1.0 + 1.0 / heads : 1.0;
    return {{.peer = Peer::shift,
             .fraction = fraction,
             .hops = passes,
             .reduce = (reduces || ...),
             .heads = heads,
             .fill = passes}};
}

template <bool... reduces>
std::vector<Transfer> switch_transfers(const GroupShape& shape) {
    std::vector<Transfer> transfers;
    (append_switch_round(transfers, shape, 1, reduces), ...);
    return transfers;
}

// Besides the stages in nodes there is one for each level of the trees up and one down, half as long: half of the
// channels go up to one parent, and what NICs send down passes at the same time. From four nodes on NCCL cuts finer.
std::vector<Phase> tree_phases(const GroupShape& shape) {
    const std::uint32_t m = shape.per_node(), nodes = shape.blocks(), depth = double_tree_depth(nodes);
    std::vector<Phase> phases{{.peer = Peer::listed,
                               .hops = 2,
                               .hops_across = 2 * depth,
                               .reduce = true,
                               .heads = heads_of(m),
                               .fill = 2 + depth,
                               .finer = nodes < 4 ? 1U : 2U}};
    std::vector<Edge>& edges = phases.front().edges;
    for (std::uint32_t i = 0; i < shape.members; ++i) {
        edges.push_back({i, i / m * m + (i + 1) % m, 1.0 + 1.0 / heads_of(m)});  // as switch_phases
    }
    append_tree_edges(edges, nodes, m, m, 0.5 / m);
    return phases;
}

std::vector<Transfer> tree_transfers(const GroupShape& shape) {
    const std::uint32_t m = shape.per_node(), nodes = shape.blocks(), depth = double_tree_depth(nodes);
    std::vector<Transfer> transfers;
    append_switch_round(transfers, shape, 2, true);
    for (std::uint32_t d = depth; d > 0; --d) append_tree_level(transfers, nodes, m, m, d, true);
    for (std::uint32_t d = 1; d <= depth; ++d) append_tree_level(transfers, nodes, m, m, d, false);
    append_switch_round(transfers, shape, 2, false);
    return transfers;
}

}  // namespace

// Every member stores its piece to all, itself included, and so receives the whole message.
extern const Algorithm nvls_all_gather{
    .name = "nvls",
    .op = Collective::all_gather,
    .phases = switch_phases<false>,
    .transfers = switch_transfers<false>,
    .runs = is_in_one_node,
    .needs = Needs::reducing_switch,
};

// Every member reads the sum of its piece and stores it to all, (1 + 1/n) of the message in each direction.
extern const Algorithm nvls_all_reduce{
    .name = "nvls",
    .op = Collective::all_reduce,
    .phases = switch_phases<true, false>,
    .transfers = switch_transfers<true, false>,
    .runs = is_in_one_node,
    .needs = Needs::reducing_switch,
};

// Every member reads the sum of its piece, and so the switch reads all of every member.
extern const Algorithm nvls_reduce_scatter{
    .name = "nvls",
    .op = Collective::reduce_scatter,
    .phases = switch_phases<true>,
    .transfers = switch_transfers<true>,
    .runs = is_in_one_node,
    .needs = Needs::reducing_switch,
};

// On several nodes whose switches add: the switch leaves each member with its node's sum of its piece, a double tree
// across nodes among members of equal place adds those up, and the switch copies the results to all. All of it works at
// once on small chunks. Between nodes each member sends its 1/per_node of the message up and down.
extern const Algorithm nvls_tree_all_reduce{
    .name = "nvls_tree",
    .op = Collective::all_reduce,
    .chunks = [](const GroupShape& shape) { return 2 * shape.per_node(); },
    .phases = tree_phases,
    .transfers = tree_transfers,
    .runs = has_two_levels,
    .order = Order::trees,
    .needs = Needs::reducing_switch,
};

}  // namespace weft::collective
