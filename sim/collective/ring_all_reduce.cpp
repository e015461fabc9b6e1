// Ring all-reduce: reduce-scatter, then all-gather. Bandwidth-optimal: 2 (n - 1)/n of the message per member
// (Patarasuk and Yuan, J. Parallel Distrib. Comput. 69 (2009) 117-124), at the price of 2 (n - 1) latencies.
#include "sim/collective/ring.hpp"

namespace weft::collective {

extern const Algorithm ring_all_reduce{
    .name = "ring",
    .op = Collective::all_reduce,
    .chunks = [](std::uint32_t n) { return n; },
    .phases =
        [](std::uint32_t n) {
            return std::vector{ring_phase(n, true), ring_phase(n, false)};
        },
    .transfers =
        [](std::uint32_t n) {
            std::vector<Transfer> transfers;
            append_ring_rounds(transfers, n, 0, true);
            append_ring_rounds(transfers, n, n - 1, false);
            return transfers;
        },
};

}  // namespace weft::collective
