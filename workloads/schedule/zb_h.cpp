// The hand-made zero-bubble schedules, which take the weights' gradients apart.
#include <algorithm>

#include "workloads/schedule/schedule.hpp"

namespace weft::schedule {
namespace {

// How far a stage runs ahead and behind, in micro-batches.
struct SplitBackward {
    std::uint32_t warm_up = 0;  // forwards before the first pair of a forward and a backward
    std::uint32_t delay = 0;    // the weights' gradient follows this many activations' gradients later
};

// `warm_up` forwards; then a forward, the activations' gradient and, once `delay` of them wait, the weights' gradient
// that waits longest. Towards the end forwards run out, and the weights' gradients that are left close the list.
// At most warm_up + 1 + delay micro-batches are alive.
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

}  // namespace

// Zero bubble H1 (ZB-1P; Qi et al., arXiv 2401.10241, section 2.1): 1F1B's warm-up, and stage i computes the weights'
// gradient i micro-batches after the activations' gradient, so that the later stages, which would wait for the drain,
// have work then. Memory of 1F1B's first stage, p micro-batches, on every stage.
// With times F, B (activations' gradient) and W, the bubble is (p - 1)(F + B - W) for W <= F and m >= p; for F = B = W
// that is a third of 1F1B's (p - 1)(F + B + W). For W > F it stays at (p - 1)B: the first stage has nothing but
// forwards until the first gradient is back, and may keep no more than p.
extern const Schedule zb_h1{.key = "zb-h1",
                            .summary = "1F1B with the weights' gradients apart and later",
                            .handover = Schedule::Handover::beside,
                            .needs = {.weights_apart = true},
                            .slots = [](const PipelineShape& shape, std::uint32_t stage) {
                                const std::uint32_t later = shape.stages - 1 - stage;
                                return split_backward(shape.micro_batches, {.warm_up = later, .delay = stage});
                            }};

// Zero bubble H2 (ZB-2P; Qi et al., arXiv 2401.10241, section 2.2): twice the warm-up of 1F1B fills the wait for the
// first gradient, and the weights' gradients wait twice as long as in H1 to fill the drain. 2p - 1 micro-batches alive.
// With times F, B (activations' gradient) and W, no stage waits between its first slot and its last more than
// (p - 1)(F + B - 2W), for W <= F, F + B >= 2W and m >= 2p - 1: nothing for F = B = W.
// Stage i begins i forwards late and ends as much later. The paper lets the optimizer follow without a global
// synchronisation, so that successive steps fit into one another; only the slots are described here, so that a step
// alone, from the first slot of the first stage to the last slot of the last, still shows the offset (p - 1)F.
extern const Schedule zb_h2;
const Schedule zb_h2{.key = "zb-h2",
                     .summary = "no bubble between a stage's slots, for twice 1F1B's activations",
                     .handover = Schedule::Handover::beside,
                     .needs = {.weights_apart = true},
                     .slots = [](const PipelineShape& shape, std::uint32_t stage) {
                         const std::uint32_t later = shape.stages - 1 - stage;
                         return split_backward(shape.micro_batches, {.warm_up = 2 * later, .delay = 2 * stage});
                     }};

}  // namespace weft::schedule
