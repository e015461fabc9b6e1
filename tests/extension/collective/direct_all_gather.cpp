// Direct all-gather: every member sends its block to every other at once.
#include "sim/collective/algorithm.hpp"

namespace weft::collective {

extern const Algorithm direct_all_gather{
    .name = "direct",
    .op = Collective::all_gather,
    .chunks = [](const GroupShape& shape) { return shape.members; },
    .phases =
        [](const GroupShape& shape) { return std::vector{Phase{.peer = Peer::all, .fraction = 1.0 / shape.members}}; },
    .transfers =
        [](const GroupShape& shape) {
            std::vector<Transfer> transfers;
            for (std::uint32_t from = 0; from < shape.members; ++from) {
                for (std::uint32_t to = 0; to < shape.members; ++to) {
                    if (from != to) transfers.push_back({0, from, to, from, false});
                }
            }
            return transfers;
        },
};

}  // namespace weft::collective
