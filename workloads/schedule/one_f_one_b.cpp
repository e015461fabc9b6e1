// 1F1B (PipeDream-Flush; Narayanan et al., arXiv 2104.04473): stage i of p runs min(p - i - 1, m) forwards, then
// alternates one forward and one backward, then drains. Same bubble as GPipe, at most p - i micro-batches alive.
// Without a pipeline passes may be joint: the forward of a micro-batch with the backward of the one before it
// (Megatron-core 0.14, combined_1f1b_schedule_for_no_pipelining).
#include <algorithm>

#include "workloads/schedule/schedule.hpp"

namespace weft::schedule {

static std::vector<Slot> one_f_one_b_slots(const PipelineShape& shape, std::uint32_t stage) {
    const std::uint32_t micro_batches = shape.micro_batches;
    const bool joint = shape.passes == PassOrder::joint && shape.stages == 1;
    const std::uint32_t warm_up = std::min(shape.stages - stage - 1 + (joint ? 1 : 0), micro_batches);
    std::vector<Slot> order;
    order.reserve(2 * micro_batches);
    for (std::uint32_t i = 0; i < warm_up; ++i) order.push_back({SlotKind::forward, i});
    for (std::uint32_t i = 0; i < micro_batches; ++i) {
        if (warm_up + i < micro_batches) {
            order.push_back({SlotKind::forward, warm_up + i});
            if (joint) order.back().runs = Slot::Runs::with_next;
        }
        order.push_back({SlotKind::backward, i});
    }
    return order;
}

extern const Schedule one_f_one_b{.key = "1f1b",
                                  .summary = "one forward, one backward",
                                  .joins = Schedule::Joins::without_pipeline,
                                  .slots = one_f_one_b_slots};

}  // namespace weft::schedule
