#include "bench/peers/work.hpp"

#include <algorithm>

namespace weft::peers {
namespace {

using Kind = MessageActionKind;

Work begin(std::uint32_t ranks, std::uint32_t inboxes) {
    Work work{ranks, {}};
    work.program.tables.inboxes = inboxes;
    return work;
}

void begin_rank(Work& work, std::uint32_t rank) { work.program.begin({RankId(rank), 0}); }

// Of the tables of a step.
enum Shape : std::uint32_t { tensor_part, activations, gradient_part };
enum Duration : std::uint32_t { half_layer_forward, half_layer_backward };
constexpr InboxId from_tensor{0}, from_stage_before{1}, from_stage_behind{2}, from_data{3};

// One rank's part of a step. Ranks are numbered tensor first, then data, then pipeline.
class StepOfARank {
  public:
    StepOfARank(MessageProgram& program, const StepShape& shape, std::uint32_t rank)
        : program_(program),
          shape_(shape),
          rank_(rank),
          tensor_(rank % shape.tensor),
          data_(rank / shape.tensor % shape.data),
          stage_(rank / shape.tensor / shape.data) {}

    void write() {
        const std::uint32_t ahead = std::min(shape_.pipeline - 1 - stage_, shape_.micro_batches);
        for (std::uint32_t i = 0; i < ahead; ++i) forward();
        for (std::uint32_t i = ahead; i < shape_.micro_batches; ++i) {
            forward();
            backward();
        }
        for (std::uint32_t i = 0; i < ahead; ++i) backward();
        const std::uint32_t right = rank_ - data_ * shape_.tensor + (data_ + 1) % shape_.data * shape_.tensor;
        ring(right, shape_.data, from_data, gradient_part);
    }

  private:
    void forward() {
        if (stage_ > 0) program_.add({.kind = Kind::receive, .inbox = from_stage_before});
        compute(half_layer_forward);
        if (stage_ + 1 < shape_.pipeline) post(rank_ + shape_.tensor * shape_.data, from_stage_before);
    }
    void backward() {
        if (stage_ + 1 < shape_.pipeline) program_.add({.kind = Kind::receive, .inbox = from_stage_behind});
        compute(half_layer_backward);
        if (stage_ > 0) post(rank_ - shape_.tensor * shape_.data, from_stage_behind);
    }
    // Attention and feed-forward network of each layer, and the sum over tensor ranks after each.
    void compute(Duration duration) {
        const std::uint32_t right = rank_ - tensor_ + (tensor_ + 1) % shape_.tensor;
        for (std::uint32_t half = 0; half < 2 * shape_.layers; ++half) {
            program_.add({.kind = Kind::work, .subject = duration});
            ring(right, shape_.tensor, from_tensor, tensor_part);
        }
    }
    void post(std::uint32_t to, InboxId inbox) {
        program_.add({.kind = Kind::post, .inbox = inbox, .subject = activations, .to = ActorId(to)});
    }
    void ring(std::uint32_t right, std::uint32_t members, InboxId inbox, Shape part) {
        if (members < 2) return;
        program_.add({Kind::exchange, inbox, part, ActorId(right), 2 * (members - 1)});
    }

    MessageProgram& program_;
    const StepShape& shape_;
    std::uint32_t rank_, tensor_, data_, stage_;
};

}  // namespace

Work ring_all_reduce(std::uint32_t ranks) {
    Work work = begin(ranks, 1);
    work.program.tables.shapes.push_back({.bytes = 1_GiB / ranks});
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        begin_rank(work, rank);
        work.program.add({Kind::exchange, InboxId{0}, 0, ActorId((rank + 1) % ranks), 2 * (ranks - 1)});
    }
    return work;
}

Work staggered_all_to_all(std::uint32_t ranks) {
    Work work = begin(ranks, 0);
    work.program.tables.shapes.push_back({.bytes = 64_KiB});
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        begin_rank(work, rank);
        for (std::uint32_t k = 1; k < ranks; ++k) {
            work.program.add({.kind = Kind::send, .to = ActorId((rank + k) % ranks)});
        }
    }
    return work;
}

// 2048 tokens of 6144 numbers of two bytes go from stage to stage. A layer has 12 x 6144^2 parameters, whose gradients
// have two bytes each; the times of half a layer are of the order that an accelerator takes for them.
Work gpt_step(const StepShape& shape) {
    Work work = begin(shape.ranks(), 4);
    const Bytes tokens{2048.0 * 6144.0 * 2.0};
    const Bytes gradients{12.0 * 6144.0 * 6144.0 * 2.0 * shape.layers / shape.tensor};
    MessageTables& tables = work.program.tables;
    tables.shapes = {{.bytes = tokens / shape.tensor}, {.bytes = tokens}, {.bytes = gradients / shape.data}};
    tables.durations = {300_us, 600_us};
    for (std::uint32_t rank = 0; rank < shape.ranks(); ++rank) {
        begin_rank(work, rank);
        StepOfARank(work.program, shape, rank).write();
    }
    return work;
}

}  // namespace weft::peers
