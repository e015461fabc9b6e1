// Reduce-scatter by the switch: every member reads the sum of its piece, and so the switch reads all of every member.
#include "sim/collective/nvls.hpp"

namespace weft::collective {

extern const Algorithm nvls_reduce_scatter{
    .name = "nvls",
    .op = Collective::reduce_scatter,
    .chunks = [](const GroupShape& shape) { return shape.members; },
    .phases = [](const GroupShape&) { return std::vector{switch_phase(1.0, 1, true)}; },
    .transfers =
        [](const GroupShape& shape) {
            std::vector<Transfer> transfers;
            append_switch_round(transfers, shape, 0, 1, true);
            return transfers;
        },
    .runs = is_one_node,
    .needs = Needs::reducing_switch,
};

}  // namespace weft::collective
