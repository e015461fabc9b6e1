// Collectives on two levels: inside nodes, and across them among members of equal place.
#include "sim/collective/rings.hpp"

namespace weft::collective {
namespace {

std::vector<Phase> all_to_all_phases(const GroupShape& shape) {
    const std::uint32_t m = shape.per_node(), nodes = shape.blocks();
    std::vector<Phase> phases;
    for (std::uint32_t k = 1; k < m; ++k) {
        phases.push_back({.peer = Peer::shift_in_span, .distance = k, .span = m, .fraction = 1.0 / m});
    }
    for (std::uint32_t k = 1; k < nodes; ++k) phases.push_back({.distance = k * m, .fraction = 1.0 / nodes});
    return phases;
}

std::vector<Transfer> all_to_all_transfers(const GroupShape& shape) {
    const std::uint32_t n = shape.members, m = shape.per_node(), nodes = shape.blocks();
    std::vector<Transfer> transfers;
    std::uint32_t round = 0;
    for (std::uint32_t k = 1; k < m; ++k, ++round) {  // all that is for members at the place of `to`
        for (std::uint32_t from = 0; from < n; ++from) {
            const std::uint32_t place = (from + k) % m, to = from - from % m + place;
            for (std::uint32_t target = place; target < n; target += m) {
                transfers.push_back({round, from, to, from * n + target, false});
            }
        }
    }
    for (std::uint32_t k = 1; k < nodes; ++k, ++round) {  // all that the node has for `to`
        for (std::uint32_t from = 0; from < n; ++from) {
            const std::uint32_t to = (from + k * m) % n, node = from - from % m;
            for (std::uint32_t source = node; source < node + m; ++source) {
                transfers.push_back({round, from, to, source * n + to, false});
            }
        }
    }
    return transfers;
}

}  // namespace

// The mirror image of the reduce-scatter below.
extern const Algorithm hierarchical_all_gather{
    .name = "hierarchical",
    .op = Collective::all_gather,
    .phases = ring_phases<gather_across, gather_in_node>,
    .transfers = ring_transfers<gather_across, gather_in_node>,
    .runs = has_two_levels,
    .order = Order::trees,
};

// As many bytes as a ring, in 2 (per_node + nodes - 2) rounds.
extern const Algorithm hierarchical_all_reduce{
    .name = "hierarchical",
    .op = Collective::all_reduce,
    .phases = ring_phases<scatter_in_node, scatter_across, gather_across, gather_in_node>,
    .transfers = ring_transfers<scatter_in_node, scatter_across, gather_across, gather_in_node>,
    .runs = has_two_levels,
    .order = Order::trees,
};

// Inside every node members exchange what is for each place, then members of equal place exchange it across nodes,
// per_node blocks in one message: fewer and larger messages between nodes, for the price of sending most blocks twice.
extern const Algorithm hierarchical_all_to_all{
    .name = "hierarchical",
    .op = Collective::all_to_all,
    .phases = all_to_all_phases,
    .transfers = all_to_all_transfers,
    .runs = has_two_levels,
    .order = Order::trees,
};

// A ring inside every node leaves each member with its node's sum of 1/per_node of the message; rings across nodes
// among members of equal place finish it. The ring's (n - 1)/n of the message per member in per_node + nodes - 2 rounds
// instead of n - 1, with 1/per_node of the message on each link out of a node.
extern const Algorithm hierarchical_reduce_scatter{
    .name = "hierarchical",
    .op = Collective::reduce_scatter,
    .phases = ring_phases<scatter_in_node, scatter_across>,
    .transfers = ring_transfers<scatter_in_node, scatter_across>,
    .runs = has_two_levels,
    .order = Order::trees,
};

}  // namespace weft::collective
