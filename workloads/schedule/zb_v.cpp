// Zero bubble V (ZB-V; Qi et al., arXiv 2405.15362 and 2401.10241v2): two model parts per stage, the path forward goes
// down the stages on the first and up again on the second, so that the first stage holds the loss and begins the
// backward as early as it can. At most 2p activations of half a stage, the memory of 1F1B's first stage, on every
// stage. For equal times of forward, activations' and weights' gradient and m >= 2p - 1, no stage waits between its
// first slot and its last; stage i begins i forwards late and ends as much later. Other times and fewer micro-batches
// leave bubbles for which there is no published closed form.
//
// The order is that steady one for unit times, written out. Let s = stage and "cell" be a forward of the second part
// with its two gradients:
//   fill     2(p - s) - 1 forwards of part 0 (the first comes back on part 1 that many slots later), then s times a
//            forward of each part, then p - s cells, of which each frees what it takes;
//   steady   a forward of part 0 with both gradients of the micro-batch that it replaces, and a cell;
//   drain    the activations' gradients, which the stages above wait for, before the weights': s of both parts, then
//            p - s of part 0, each with a weights' gradient, then the weights' gradients left.
// With fewer micro-batches than 2p - 1, the order is that of 2p - 1, without those that are not there.
#include <algorithm>
#include <array>
#include <utility>

#include "workloads/schedule/schedule.hpp"

namespace weft::schedule {
namespace {

// Micro-batches of one part go through each kind of slot in order.
class Order {
  public:
    explicit Order(std::uint32_t micro_batches) : micro_batches_(micro_batches) {
        slots_.reserve(std::size_t{6} * micro_batches);
    }

    std::uint32_t forwards(std::uint32_t chunk) const { return count_[0][chunk]; }

    void forward(std::uint32_t chunk) { add(SlotKind::forward, chunk, count_[0]); }
    void input_backward(std::uint32_t chunk) { add(SlotKind::input_backward, chunk, count_[1]); }
    void weight_backward(std::uint32_t chunk) { add(SlotKind::weight_backward, chunk, count_[2]); }
    void both_gradients(std::uint32_t chunk) {
        input_backward(chunk);
        weight_backward(chunk);
    }
    void weights_left(std::uint32_t chunk) {
        while (count_[2][chunk] < count_[1][chunk]) weight_backward(chunk);
    }

    std::vector<Slot> slots() && { return std::move(slots_); }

  private:
    void add(SlotKind kind, std::uint32_t chunk, std::array<std::uint32_t, 2>& count) {
        const std::uint32_t micro_batch = count[chunk]++;
        if (micro_batch < micro_batches_) slots_.push_back({kind, micro_batch, chunk});
    }

    std::uint32_t micro_batches_;
    std::array<std::array<std::uint32_t, 2>, 3> count_{};  // of each kind of slot, by chunk
    std::vector<Slot> slots_;
};

void fill(Order& order, std::uint32_t stages, std::uint32_t stage) {
    for (std::uint32_t i = 0; i < 2 * (stages - stage) - 1; ++i) order.forward(0);
    for (std::uint32_t i = 0; i < stage; ++i) {
        order.forward(1);
        order.forward(0);
    }
    for (std::uint32_t i = 0; i < stages - stage; ++i) {
        order.forward(1);
        order.both_gradients(1);
    }
}

void drain(Order& order, std::uint32_t stages, std::uint32_t stage) {
    for (std::uint32_t i = 0; i < stage; ++i) {
        order.input_backward(0);
        order.input_backward(1);
    }
    for (std::uint32_t i = 0; i < stages - stage; ++i) order.both_gradients(0);
    order.weights_left(1);
    order.weights_left(0);
}

std::vector<Slot> zb_v_slots(const PipelineShape& shape, std::uint32_t stage) {
    Order order(shape.micro_batches);
    const std::uint32_t micro_batches = std::max(shape.micro_batches, 2 * shape.stages - 1);
    fill(order, shape.stages, stage);
    while (order.forwards(1) < micro_batches) {
        if (order.forwards(0) < micro_batches) order.forward(0);
        order.both_gradients(0);
        order.forward(1);
        order.both_gradients(1);
    }
    drain(order, shape.stages, stage);
    return std::move(order).slots();
}

std::vector<Place> zb_v_path(const PipelineShape& shape, std::uint32_t) {
    std::vector<Place> places;
    places.reserve(std::size_t{2} * shape.stages);
    for (std::uint32_t stage = 0; stage < shape.stages; ++stage) places.push_back({stage, 0});
    for (std::uint32_t stage = shape.stages; stage-- > 0;) places.push_back({stage, 1});
    return places;
}

}  // namespace

extern const Schedule zb_v{.key = "zb-v",
                           .summary = "no bubble between a stage's slots, for 1F1B's activations: two parts in a V",
                           .chunks = 2,
                           .handover = Schedule::Handover::beside,
                           .needs = {.weights_apart = true, .several_parts = true},
                           .path = zb_v_path,
                           .slots = zb_v_slots};

}  // namespace weft::schedule
