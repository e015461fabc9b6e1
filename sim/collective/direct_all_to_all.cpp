// Direct all-to-all: every member sends every other its block at once, as grouped sends and receives do.
#include "sim/collective/algorithm.hpp"

namespace weft::collective {

extern const Algorithm direct_all_to_all{
    .name = "direct",
    .op = Collective::all_to_all,
    .phases =
        [](const GroupShape& shape) { return std::vector{Phase{.peer = Peer::all, .fraction = 1.0 / shape.members}}; },
    .transfers =
        [](const GroupShape& shape) {
            const std::uint32_t n = shape.members;
            std::vector<Transfer> transfers;
            append_all_pairs(transfers, n, false, [n](std::uint32_t from, std::uint32_t to) { return from * n + to; });
            return transfers;
        },
};

}  // namespace weft::collective
