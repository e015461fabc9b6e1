#include "bench/peers/work.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

namespace weft::peers {
namespace {

using Kind = MessageActionKind;

// Writes work, and where it is perturbed draws what each rank has of its own.
class Writer {
  public:
    Writer(std::uint32_t ranks, std::uint32_t inboxes, Likeness likeness)
        : perturbed_(likeness == Likeness::perturbed) {
        for (std::uint32_t rank = 0; rank < ranks; ++rank) work_.ranks.push_back({cable(), cable()});
        work_.racks = {{bandwidth, bandwidth}};
        work_.latency = 500_ns;
        work_.program.tables.inboxes = inboxes;
    }

    void add_shape(Bytes bytes) {
        for (std::uint32_t i = 0; i < variants(); ++i) {
            work_.program.tables.shapes.push_back({.bytes = {std::round(bytes.value * between(0.5, 1.5))}});
        }
    }
    void add_duration(Seconds duration) {
        for (std::uint32_t i = 0; i < variants(); ++i) {
            work_.program.tables.durations.push_back(duration * between(0.8, 1.2));
        }
    }
    // One of the variants of a shape or duration that was added.
    std::uint32_t draw(std::uint32_t subject) { return subject * variants() + below(variants()); }
    std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }

    void begin(std::uint32_t rank) {
        work_.program.begin({RankId(rank), 0});
        if (!perturbed_) return;
        add({.kind = Kind::work, .subject = static_cast<std::uint32_t>(work_.program.tables.durations.size())});
        work_.program.tables.durations.push_back(20_us * between(0, 1));
    }
    void add(const MessageAction& action) { work_.program.add(action); }
    // A fabric has at most 255 classes of links, those of racks among them.
    BytesPerSecond cable() {
        constexpr std::uint32_t steps = 60;
        if (!perturbed_) return bandwidth;
        const double share = 0.8 + 0.4 * below(steps) / steps;
        return bandwidth * (below(64) == 0 ? share / 4 : share);
    }
    double between(double low, double high) {
        return perturbed_ ? low + (high - low) * static_cast<double>(random_() >> 11U) * 0x1p-53 : 1.0;
    }

    Work& work() { return work_; }

  private:
    std::uint32_t variants() const { return perturbed_ ? 997 : 1; }

    bool perturbed_;
    Work work_;
    std::mt19937_64 random_{1};
};

// Of the tables of a step.
enum Shape : std::uint32_t { tensor_part, activations, gradient_part };
enum Duration : std::uint32_t { half_layer_forward, half_layer_backward };
constexpr InboxId from_tensor{0}, from_stage_before{1}, from_stage_behind{2}, from_data{3};

// One rank's part of a step. Ranks are numbered tensor first, then data, then pipeline.
class StepOfARank {
  public:
    StepOfARank(Writer& writer, const StepShape& shape, std::uint32_t rank)
        : writer_(writer),
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
        if (stage_ > 0) writer_.add({.kind = Kind::receive, .inbox = from_stage_before});
        compute(half_layer_forward);
        if (stage_ + 1 < shape_.pipeline) post(rank_ + shape_.tensor * shape_.data, from_stage_before);
    }
    void backward() {
        if (stage_ + 1 < shape_.pipeline) writer_.add({.kind = Kind::receive, .inbox = from_stage_behind});
        compute(half_layer_backward);
        if (stage_ > 0) post(rank_ - shape_.tensor * shape_.data, from_stage_behind);
    }
    // Attention and feed-forward network of each layer, and the sum over tensor ranks after each.
    void compute(Duration duration) {
        const std::uint32_t right = rank_ - tensor_ + (tensor_ + 1) % shape_.tensor;
        for (std::uint32_t half = 0; half < 2 * shape_.layers; ++half) {
            writer_.add({.kind = Kind::work, .subject = writer_.draw(duration)});
            ring(right, shape_.tensor, from_tensor, tensor_part);
        }
    }
    void post(std::uint32_t to, InboxId inbox) {
        writer_.add({.kind = Kind::post, .inbox = inbox, .subject = writer_.draw(activations), .to = ActorId(to)});
    }
    void ring(std::uint32_t right, std::uint32_t members, InboxId inbox, Shape part) {
        if (members < 2) return;
        writer_.add({Kind::exchange, inbox, writer_.draw(part), ActorId(right), 2 * (members - 1)});
    }

    Writer& writer_;
    const StepShape& shape_;
    std::uint32_t rank_, tensor_, data_, stage_;
};

}  // namespace

Work ring_all_reduce(std::uint32_t ranks, Likeness likeness) {
    Writer writer(ranks, 1, likeness);
    writer.add_shape(1_GiB / ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        writer.begin(rank);
        writer.add({Kind::exchange, InboxId{0}, writer.draw(0), ActorId((rank + 1) % ranks), 2 * (ranks - 1)});
    }
    return std::move(writer.work());
}

Work staggered_all_to_all(std::uint32_t ranks, Likeness likeness) {
    Writer writer(ranks, 0, likeness);
    writer.add_shape(64_KiB);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        writer.begin(rank);
        for (std::uint32_t k = 1; k < ranks; ++k) {
            writer.add({.kind = Kind::send, .subject = writer.draw(0), .to = ActorId((rank + k) % ranks)});
        }
    }
    return std::move(writer.work());
}

// Links have no latency: SimGrid gives a flow a share in proportion to 1 / latency of its route.
Work random_pairs(std::uint32_t ranks) {
    constexpr std::uint32_t messages = 64, oversubscription = 4;
    Writer writer(ranks, 0, Likeness::perturbed);
    writer.work().latency = {};
    writer.work().racks.clear();
    const double rack = static_cast<double>(ranks_per_rack) / oversubscription;
    for (std::uint32_t i = 0; i < ranks / ranks_per_rack; ++i) {
        writer.work().racks.push_back({rack * writer.cable(), rack * writer.cable()});
    }
    writer.add_shape(64_KiB);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        writer.begin(rank);
        for (std::uint32_t i = 0; i < messages; ++i) {
            const auto to = static_cast<ActorId>((rank + 1 + writer.below(ranks - 1)) % ranks);
            writer.add({.kind = Kind::send, .subject = writer.draw(0), .to = to});
        }
    }
    return std::move(writer.work());
}

// 2048 tokens of 6144 numbers of two bytes go from stage to stage. A layer has 12 x 6144^2 parameters, whose gradients
// have two bytes each; the times of half a layer are of the order that an accelerator takes for them.
Work gpt_step(const StepShape& shape, Likeness likeness) {
    Writer writer(shape.ranks(), 4, likeness);
    const Bytes tokens{2048.0 * 6144.0 * 2.0};
    const Bytes gradients{12.0 * 6144.0 * 6144.0 * 2.0 * shape.layers / shape.tensor};
    for (const Bytes bytes : {tokens / shape.tensor, tokens, gradients / shape.data}) writer.add_shape(bytes);
    for (const Seconds duration : {300_us, 600_us}) writer.add_duration(duration);
    for (std::uint32_t rank = 0; rank < shape.ranks(); ++rank) {
        writer.begin(rank);
        StepOfARank(writer, shape, rank).write();
    }
    return std::move(writer.work());
}

}  // namespace weft::peers
