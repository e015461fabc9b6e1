// Ring all-reduce: reduce-scatter, then all-gather. Bandwidth-optimal: 2 (n - 1)/n of the message per member
// (Patarasuk and Yuan, J. Parallel Distrib. Comput. 69 (2009) 117-124), at the price of 2 (n - 1) latencies.
#include "sim/collective/ring.hpp"

namespace weft::collective {

extern const Algorithm ring_all_reduce{
    .name = "ring",
    .op = Collective::all_reduce,
    .chunks = [](const GroupShape& shape) { return shape.members; },
    .phases =
        [](const GroupShape& shape) {
            const std::uint32_t n = shape.members;
            return std::vector{ring_phase(n, true), ring_phase(n, false)};
        },
    .transfers =
        [](const GroupShape& shape) {
            const std::uint32_t n = shape.members;
            std::vector<Transfer> transfers;
            append_ring_rounds(transfers, n, 0, true);
            append_ring_rounds(transfers, n, n - 1, false);
            return transfers;
        },
};

}  // namespace weft::collective
