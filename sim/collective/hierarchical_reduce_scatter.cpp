// Hierarchical reduce-scatter: a ring inside every node leaves each member with its node's sum of 1/per_node of the
// message; rings across nodes among members of equal place finish it. The ring's (n - 1)/n of the message per member in
// per_node + nodes - 2 rounds instead of n - 1, with 1/per_node of the message on each way out of a node.
#include "sim/collective/two_level.hpp"

namespace weft::collective {

extern const Algorithm hierarchical_reduce_scatter{
    .name = "hierarchical",
    .op = Collective::reduce_scatter,
    .chunks = [](const GroupShape& shape) { return shape.members; },
    .phases =
        [](const GroupShape& shape) {
            return std::vector{ring_in_node(shape, true), ring_across(shape, true)};
        },
    .transfers =
        [](const GroupShape& shape) {
            std::vector<Transfer> transfers;
            append_ring_in_node(transfers, shape, 0, true);
            append_ring_across(transfers, shape, shape.per_node() - 1, true);
            return transfers;
        },
    .runs = has_two_levels,
    .order = Order::trees,
};

}  // namespace weft::collective
