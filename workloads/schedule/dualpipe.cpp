// DualPipe (DeepSeek-V3, arXiv 2412.19437; the order of DualPipe.step in github.com/deepseek-ai/DualPipe at 3da1bbe):
// every stage holds the model parts of stage s and of its mirror p - 1 - s. The first half of the micro-batches enters
// at stage 0 and goes up (chunk 0), the second half enters at stage p - 1 and goes down (chunk 1). p + 1 micro-batches
// alive.
//
// Published bubble: (p / 2 - 1)(F&B + B - 3W), B the full backward and F&B a forward and a backward run as one, under
// PassOrder::joint. In turn, what the forward made leaves before the backward is done, which shortens the wait: for
// equal times F = B - W = W it is (p / 2 - 1)F, against 2(p / 2 - 1)F for pairs run as one at F&B = F + B.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "workloads/schedule/schedule.hpp"

namespace weft::schedule {
namespace {

// Directions as a stage sees them: `near` micro-batches enter at the closer end of the pipeline, `far` ones at the
// other.
enum class Entry : std::uint8_t { near, far };
enum class Gradients : std::uint8_t { both, input };  // input: the weights' are put off

class Order {
  public:
    Order(const PipelineShape& shape, std::uint32_t stage)
        : near_chunk_(stage < shape.stages / 2 ? 0 : 1), half_(shape.micro_batches / 2), passes_(shape.passes) {
        slots_.reserve(std::size_t{3} * shape.micro_batches);
    }

    void forward(Entry entry) { slots_.push_back(next(SlotKind::forward, entry, forwards_)); }
    void backward(Entry entry, Gradients gradients = Gradients::both) {
        const bool whole = gradients == Gradients::both;
        slots_.push_back(next(whole ? SlotKind::backward : SlotKind::input_backward, entry, backwards_));
        if (whole) return;
        put_off_.push_back(slots_.back());
        put_off_.back().kind = SlotKind::weight_backward;
    }
    void pair(Entry ahead, Entry behind) {
        forward(ahead);
        if (passes_ == PassOrder::joint) slots_.back().runs = Slot::Runs::with_next;
        backward(behind);
    }
    void weights() { slots_.push_back(put_off_[weights_++]); }  // the ones put off longest

    std::vector<Slot> slots() && { return std::move(slots_); }

  private:
    Slot next(SlotKind kind, Entry entry, std::array<std::uint32_t, 2>& count) const {
        const std::uint32_t chunk = entry == Entry::near ? near_chunk_ : 1 - near_chunk_;
        return {kind, chunk * half_ + count[chunk]++, chunk};
    }

    std::uint32_t near_chunk_, half_;
    PassOrder passes_;
    std::array<std::uint32_t, 2> forwards_{}, backwards_{};  // so far, by chunk
    std::vector<Slot> slots_, put_off_;
    std::size_t weights_ = 0;
};

std::string dualpipe_obstacle(const PipelineShape& shape) {
    if (shape.stages % 2 != 0) {
        return fmt::format("dualpipe needs an even number of pipeline stages, not {}", shape.stages);
    }
    if (shape.micro_batches % 2 != 0) {
        return fmt::format("dualpipe needs an even number of micro-batches, not {}", shape.micro_batches);
    }
    if (shape.micro_batches < 2 * shape.stages) {
        return fmt::format("dualpipe needs at least {} micro-batches for {} pipeline stages, not {}", 2 * shape.stages,
                           shape.stages, shape.micro_batches);
    }
    return {};
}

// `inside` stages lie between this one and the middle, `outside` between it and its end of the pipeline.
void fill(Order& order, std::uint32_t inside, std::uint32_t outside) {
    for (std::uint32_t i = 0; i < 2 * inside; ++i) order.forward(Entry::near);  // step 1
    for (std::uint32_t i = 0; i <= outside; ++i) {                              // step 2
        order.forward(Entry::near);
        order.forward(Entry::far);
    }
    for (std::uint32_t i = 0; i < inside; ++i) {  // step 3
        order.backward(Entry::far, Gradients::input);
        order.weights();
        order.forward(Entry::far);
    }
}

void drain(Order& order, std::uint32_t inside, std::uint32_t outside) {
    for (std::uint32_t i = 0; i < inside; ++i) {  // step 5
        order.backward(Entry::far);
        order.pair(Entry::far, Entry::near);
    }
    // Step 6: of its 2 (outside + 1) backwards, the last outside + 1 put their weights' gradients off.
    for (std::uint32_t i = 0; i < 2 * (outside + 1); ++i) {
        order.backward(i % 2 == 0 ? Entry::far : Entry::near, i <= outside ? Gradients::both : Gradients::input);
    }
    for (std::uint32_t i = 0; i < inside; ++i) {  // step 7
        order.weights();
        order.backward(Entry::near, Gradients::input);
    }
    for (std::uint32_t i = 0; i <= outside; ++i) order.weights();  // step 8
}

std::vector<Slot> dualpipe_slots(const PipelineShape& shape, std::uint32_t stage) {
    const std::uint32_t outside = std::min(stage, shape.stages - 1 - stage), inside = shape.stages / 2 - 1 - outside;
    Order order(shape, stage);
    fill(order, inside, outside);
    for (std::uint32_t i = 0; i < shape.micro_batches / 2 - shape.stages + outside + 1; ++i) {  // step 4
        if (i == 0 && inside == 0) {  // the stages in the middle begin in turn
            order.forward(Entry::near);
            order.backward(Entry::far);
        } else {
            order.pair(Entry::near, Entry::far);
        }
        order.pair(Entry::far, Entry::near);
    }
    drain(order, inside, outside);
    return std::move(order).slots();
}

std::vector<Place> dualpipe_path(const PipelineShape& shape, std::uint32_t micro_batch) {
    const std::uint32_t last = shape.stages - 1;
    std::vector<Place> places = straight_path(shape, micro_batch);
    if (micro_batch < shape.micro_batches / 2) return places;
    for (Place& place : places) place = {last - place.stage, 1};
    return places;
}

}  // namespace

extern const Schedule dualpipe{
    .key = "dualpipe",
    .summary = "micro-batches from both ends, forward beside backward, two copies of the model",
    .chunks = 2,
    .copies = 2,
    .handover = Schedule::Handover::beside,
    .needs = {.weights_apart = true, .several_parts = true, .both_directions = true},
    .joins = Schedule::Joins::always,
    .obstacle = dualpipe_obstacle,
    .path = dualpipe_path,
    .slots = dualpipe_slots};

}  // namespace weft::schedule
