// All-gather by parallel aggregated trees.
#include "sim/collective/pat.hpp"

namespace weft::collective {

extern const Algorithm pat_all_gather{
    .name = "pat",
    .op = Collective::all_gather,
    .chunks = [](const GroupShape& shape) { return shape.members; },
    .phases =
        [](const GroupShape& shape) {
            const std::uint32_t n = shape.members;
            std::vector<Phase> phases;
            for (std::uint32_t d = farthest(n); d > 0; d /= 2) {
                phases.push_back({.distance = d, .fraction = static_cast<double>(pat_chunks(n, d)) / n});
            }
            return phases;
        },
    .transfers =
        [](const GroupShape& shape) {
            const std::uint32_t n = shape.members;
            std::vector<Transfer> transfers;
            std::uint32_t round = 0;
            for (std::uint32_t d = farthest(n); d > 0; d /= 2) append_pat_round(transfers, round++, n, d, false);
            return transfers;
        },
    .runs = is_one_per_node,
};

}  // namespace weft::collective
