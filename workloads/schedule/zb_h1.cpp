// Zero bubble H1 (ZB-1P; Qi et al., arXiv 2401.10241, section 2.1): 1F1B's warm-up, and stage i computes the weights'
// gradient i micro-batches after the activations' gradient, so that the later stages, which would wait for the drain,
// have work then. Memory of 1F1B's first stage, p micro-batches, on every stage.
// With times F, B (activations' gradient) and W, the bubble is (p - 1)(F + B - W) for W <= F and m >= p; for F = B = W
// that is a third of 1F1B's (p - 1)(F + B + W). For W > F it stays at (p - 1)B: the first stage has nothing but
// forwards until the first gradient is back, and may keep no more than p.
#include "workloads/schedule/split_backward.hpp"

namespace weft::schedule {

static std::vector<Slot> slots(const PipelineShape& shape, std::uint32_t stage) {
    return split_backward(shape.micro_batches, {.warm_up = shape.stages - 1 - stage, .delay = stage});
}

extern const Schedule zb_h1;
const Schedule zb_h1{.key = "zb-h1",
                     .summary = "1F1B with the weights' gradients apart and later",
                     .chunks = 1,
                     .copies = 1,
                     .handover = Schedule::Handover::beside,
                     .needs = {.weights_apart = true},
                     .obstacle = no_obstacle,
                     .path = straight_path,
                     .slots = slots};

}  // namespace weft::schedule
