// GPipe (Huang et al., arXiv 1811.06965): all forwards, then all backwards in the opposite order.
// Bubble (p - 1) / (m + p - 1); every micro-batch's activations are alive at the turn.
#include "workloads/schedule/schedule.hpp"

namespace weft::schedule {

static std::vector<Slot> gpipe_slots(const PipelineShape& shape, std::uint32_t) {
    const std::uint32_t micro_batches = shape.micro_batches;
    std::vector<Slot> order;
    order.reserve(2 * micro_batches);
    for (std::uint32_t i = 0; i < micro_batches; ++i) order.push_back({SlotKind::forward, i});
    for (std::uint32_t i = micro_batches; i-- > 0;) order.push_back({SlotKind::backward, i});
    return order;
}

extern const Schedule gpipe{.key = "gpipe",
                            .summary = "all forwards, then all backwards",
                            .needs = {.forwards_ahead = true},
                            .slots = gpipe_slots};

}  // namespace weft::schedule
