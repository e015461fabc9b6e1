// Direct all-to-all: every member sends every other its block at once, as grouped sends and receives do.
#include "sim/collective/algorithm.hpp"

namespace weft::collective {

extern const Algorithm direct_all_to_all{
    .name = "direct",
    .op = Collective::all_to_all,
    .chunks = [](const GroupShape& shape) { return shape.members; },
    .phases =
        [](const GroupShape& shape) { return std::vector{Phase{.peer = Peer::all, .fraction = 1.0 / shape.members}}; },
    .transfers =
        [](const GroupShape& shape) {
            const std::uint32_t n = shape.members;
            std::vector<Transfer> transfers;
            for (std::uint32_t from = 0; from < n; ++from) {
                for (std::uint32_t to = 0; to < n; ++to) {
                    if (from != to) transfers.push_back({0, from, to, from * n + to, false});
                }
            }
            return transfers;
        },
};

}  // namespace weft::collective
