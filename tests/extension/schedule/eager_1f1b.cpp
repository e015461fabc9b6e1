// Eager 1F1B (Zhuang et al., "On Optimizing the Communication of Model Parallelism", arXiv 2211.05322, section 4):
// 1F1B with twice its warm-up, so that what stages hand over has a forward and a backward to hide behind.
#include <algorithm>

#include "workloads/schedule/schedule.hpp"

namespace weft::schedule {

static std::vector<Slot> slots(const PipelineShape& shape, std::uint32_t stage) {
    const std::uint32_t warm_up = std::min(2 * (shape.stages - stage - 1), shape.micro_batches);
    std::vector<Slot> order;
    for (std::uint32_t i = 0; i < warm_up; ++i) order.push_back({SlotKind::forward, i});
    for (std::uint32_t i = 0; i < shape.micro_batches; ++i) {
        if (warm_up + i < shape.micro_batches) order.push_back({SlotKind::forward, warm_up + i});
        order.push_back({SlotKind::backward, i});
    }
    return order;
}

extern const Schedule eager_1f1b;
const Schedule eager_1f1b{.key = "eager-1f1b",
                          .summary = "1F1B with twice the warm-up",
                          .handover = Schedule::Handover::beside,
                          .slots = slots};

}  // namespace weft::schedule
