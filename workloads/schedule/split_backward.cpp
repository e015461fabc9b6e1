#include "workloads/schedule/split_backward.hpp"

#include <algorithm>

namespace weft::schedule {

std::vector<Slot> split_backward(std::uint32_t micro_batches, SplitBackward order) {
    const std::uint32_t warm_up = std::min(order.warm_up, micro_batches);
    std::vector<Slot> slots;
    slots.reserve(std::size_t{3} * micro_batches);
    std::uint32_t weights = 0;
    for (std::uint32_t i = 0; i < warm_up; ++i) slots.push_back({SlotKind::forward, i});
    for (std::uint32_t i = 0; i < micro_batches; ++i) {
        if (warm_up + i < micro_batches) slots.push_back({SlotKind::forward, warm_up + i});
        slots.push_back({SlotKind::input_backward, i});
        if (i >= order.delay) slots.push_back({SlotKind::weight_backward, weights++});
    }
    while (weights < micro_batches) slots.push_back({SlotKind::weight_backward, weights++});
    return slots;
}

}  // namespace weft::schedule
