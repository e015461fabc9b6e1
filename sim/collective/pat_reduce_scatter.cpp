// Reduce-scatter by parallel aggregated trees: the all-gather backwards.
#include "sim/collective/pat.hpp"

namespace weft::collective {

extern const Algorithm pat_reduce_scatter{
    .name = "pat",
    .op = Collective::reduce_scatter,
    .chunks = [](const GroupShape& shape) { return shape.members; },
    .phases =
        [](const GroupShape& shape) {
            const std::uint32_t n = shape.members;
            std::vector<Phase> phases;
            for (std::uint32_t d = 1; d < n; d *= 2) {
                const double fraction = static_cast<double>(pat_chunks(n, d)) / n;
                phases.push_back({.distance = n - d, .fraction = fraction, .reduce = true});
            }
            return phases;
        },
    .transfers =
        [](const GroupShape& shape) {
            const std::uint32_t n = shape.members;
            std::vector<Transfer> transfers;
            std::uint32_t round = 0;
            for (std::uint32_t d = 1; d < n; d *= 2) append_pat_round(transfers, round++, n, d, true);
            return transfers;
        },
    .runs = is_one_per_node,
};

}  // namespace weft::collective
