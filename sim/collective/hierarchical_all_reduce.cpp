// Hierarchical all-reduce: reduce-scatter inside nodes, all-reduce across nodes among members of equal place,
// all-gather inside nodes. As many bytes as a ring, in 2 (per_node + nodes - 2) rounds.
#include "sim/collective/two_level.hpp"

namespace weft::collective {

extern const Algorithm hierarchical_all_reduce{
    .name = "hierarchical",
    .op = Collective::all_reduce,
    .chunks = [](const GroupShape& shape) { return shape.members; },
    .phases =
        [](const GroupShape& shape) {
            return std::vector{ring_in_node(shape, true), ring_across(shape, true), ring_across(shape, false),
                               ring_in_node(shape, false)};
        },
    .transfers =
        [](const GroupShape& shape) {
            const std::uint32_t in_node = shape.per_node() - 1, across = shape.blocks() - 1;
            std::vector<Transfer> transfers;
            append_ring_in_node(transfers, shape, 0, true);
            append_ring_across(transfers, shape, in_node, true);
            append_ring_across(transfers, shape, in_node + across, false);
            append_ring_in_node(transfers, shape, in_node + 2 * across, false);
            return transfers;
        },
    .runs = has_two_levels,
    .order = Order::trees,
};

}  // namespace weft::collective
