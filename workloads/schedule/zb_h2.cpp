// Zero bubble H2 (ZB-2P; Qi et al., arXiv 2401.10241, section 2.2): twice the warm-up of 1F1B fills the wait for the
// first gradient, and the weights' gradients wait twice as long as in H1 to fill the drain. 2p - 1 micro-batches alive.
// With times F, B (activations' gradient) and W, no stage waits between its first slot and its last more than
// (p - 1)(F + B - 2W), for W <= F, F + B >= 2W and m >= 2p - 1: nothing for F = B = W.
// Stage i begins i forwards late and ends as much later. The paper lets the optimizer follow without a global
// synchronisation, so that successive steps fit into one another; only the slots are described here, so that a step
// alone, from the first slot of the first stage to the last slot of the last, still shows the offset (p - 1)F.
#include "workloads/schedule/split_backward.hpp"

namespace weft::schedule {

static std::vector<Slot> slots(const PipelineShape& shape, std::uint32_t stage) {
    return split_backward(shape.micro_batches, {.warm_up = 2 * (shape.stages - 1 - stage), .delay = 2 * stage});
}

extern const Schedule zb_h2;
const Schedule zb_h2{.key = "zb-h2",
                     .summary = "no bubble between a stage's slots, for twice 1F1B's activations",
                     .chunks = 1,
                     .copies = 1,
                     .handover = Schedule::Handover::beside,
                     .needs = {.weights_apart = true},
                     .obstacle = no_obstacle,
                     .path = straight_path,
                     .slots = slots};

}  // namespace weft::schedule
