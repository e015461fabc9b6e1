// Ring all-gather: every block goes once round the ring. Bandwidth-optimal: (n - 1)/n of the result per member.
#include "sim/collective/ring.hpp"

namespace weft::collective {

extern const Algorithm ring_all_gather{
    .name = "ring",
    .op = Collective::all_gather,
    .chunks = [](const GroupShape& shape) { return shape.members; },
    .phases = [](const GroupShape& shape) { return std::vector{ring_phase(shape.members, false)}; },
    .transfers =
        [](const GroupShape& shape) {
            const std::uint32_t n = shape.members;
            std::vector<Transfer> transfers;
            append_ring_rounds(transfers, n, 0, false);
            return transfers;
        },
};

}  // namespace weft::collective
