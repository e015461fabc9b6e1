// Ring all-gather: every block goes once round the ring. Bandwidth-optimal: (n - 1)/n of the result per member.
#include "sim/collective/ring.hpp"

namespace weft::collective {

extern const Algorithm ring_all_gather{
    .name = "ring",
    .op = Collective::all_gather,
    .chunks = [](std::uint32_t n) { return n; },
    .phases = [](std::uint32_t n) { return std::vector{ring_phase(n, false)}; },
    .transfers =
        [](std::uint32_t n) {
            std::vector<Transfer> transfers;
            append_ring_rounds(transfers, n, 0, false);
            return transfers;
        },
};

}  // namespace weft::collective
