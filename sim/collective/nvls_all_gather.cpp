// All-gather by the switch: every member stores its piece to all, itself included, and so receives the whole message.
#include "sim/collective/nvls.hpp"

namespace weft::collective {

extern const Algorithm nvls_all_gather{
    .name = "nvls",
    .op = Collective::all_gather,
    .chunks = [](const GroupShape& shape) { return shape.members; },
    .phases = [](const GroupShape&) { return std::vector{switch_phase(1.0, 1, false)}; },
    .transfers =
        [](const GroupShape& shape) {
            std::vector<Transfer> transfers;
            append_switch_round(transfers, shape, 0, 1, false);
            return transfers;
        },
    .runs = is_one_node,
    .needs = Needs::reducing_switch,
};

}  // namespace weft::collective
