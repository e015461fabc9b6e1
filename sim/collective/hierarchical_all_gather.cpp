// Hierarchical all-gather: rings across nodes gather the blocks of members of equal place, then a ring inside every
// node gathers the rest. See hierarchical_reduce_scatter.cpp, whose mirror image it is.
#include "sim/collective/two_level.hpp"

namespace weft::collective {

extern const Algorithm hierarchical_all_gather{
    .name = "hierarchical",
    .op = Collective::all_gather,
    .chunks = [](const GroupShape& shape) { return shape.members; },
    .phases =
        [](const GroupShape& shape) {
            return std::vector{ring_across(shape, false), ring_in_node(shape, false)};
        },
    .transfers =
        [](const GroupShape& shape) {
            std::vector<Transfer> transfers;
            append_ring_across(transfers, shape, 0, false);
            append_ring_in_node(transfers, shape, shape.blocks() - 1, false);
            return transfers;
        },
    .runs = has_two_levels,
    .order = Order::trees,
};

}  // namespace weft::collective
