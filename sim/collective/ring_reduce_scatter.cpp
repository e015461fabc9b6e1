// Ring reduce-scatter: every block goes once round the ring, reduced on its way to its owner. Bandwidth-optimal:
// (n - 1)/n of the input per member.
#include "sim/collective/ring.hpp"

namespace weft::collective {

extern const Algorithm ring_reduce_scatter{
    .name = "ring",
    .op = Collective::reduce_scatter,
    .chunks = [](const GroupShape& shape) { return shape.members; },
    .phases = [](const GroupShape& shape) { return std::vector{ring_phase(shape.members, true)}; },
    .transfers =
        [](const GroupShape& shape) {
            const std::uint32_t n = shape.members;
            std::vector<Transfer> transfers;
            append_ring_rounds(transfers, n, 0, true);
            return transfers;
        },
};

}  // namespace weft::collective
