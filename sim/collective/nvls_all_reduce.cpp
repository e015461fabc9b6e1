// All-reduce by the switch: every member reads the sum of its piece and stores it to all, (1 + 1/n) of the message each
// way.
#include "sim/collective/nvls.hpp"

namespace weft::collective {

extern const Algorithm nvls_all_reduce{
    .name = "nvls",
    .op = Collective::all_reduce,
    .chunks = [](const GroupShape& shape) { return shape.members; },
    .phases = [](const GroupShape& shape) { return std::vector{switch_phase(1.0 + 1.0 / shape.members, 2, true)}; },
    .transfers =
        [](const GroupShape& shape) {
            std::vector<Transfer> transfers;
            append_switch_round(transfers, shape, 0, 1, true);
            append_switch_round(transfers, shape, 1, 1, false);
            return transfers;
        },
    .runs = is_one_node,
    .needs = Needs::reducing_switch,
};

}  // namespace weft::collective
