#include "tools/validate/layer_time.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "sim/base/check.hpp"
#include "workloads/step/lanes.hpp"

namespace weft {
namespace {

// From the first begin to the last end of what was added.
class PassExtent {
  public:
    void add(const Span& span) {
        begin_ = begin_ ? std::min(*begin_, span.begin) : span.begin;
        end_ = std::max(end_, span.end);
    }
    Seconds length() const {
        if (!begin_) throw RangeError("the step has no such pass through a layer");
        return since_start(end_) - since_start(*begin_);
    }

  private:
    std::optional<Instant> begin_;
    Instant end_{};
};

bool is_backward(std::string_view label) { return label.starts_with("backward") || label.starts_with("recompute"); }

bool is_broadcast(const Program& program, const Op& op) {
    const Exchange& exchange = program.exchanges[ExchangeId{op.subject}];
    return program.communications[exchange.communication].op == Collective::broadcast;
}

// What a layer itself does: neither the optimizer, nor the embedding and the broadcasts of a batch, which have the
// place of the layer behind them.
bool belongs_to_layers(const Program& program, const Op& op) {
    const std::string_view label = program.labels[index(op.label)];
    if (label.find("embedding") != label.npos) return false;
    if (op.kind == OpKind::compute) return label.starts_with("forward") || is_backward(label);
    return op.kind == OpKind::exchange && lanes::is_inside_layers(op.lane) && !is_broadcast(program, op);
}

// When the first micro-batch turns round: everything before is its forward pass.
Instant turn(const Program& program, const Timeline& timeline, std::uint32_t first_op, std::uint32_t end_op) {
    for (std::uint32_t i = first_op; i < end_op; ++i) {
        const OpId id{i};
        const Op& op = program.ops[id];
        if (op.kind == OpKind::compute && op.index == 0 && is_backward(program.labels[index(op.label)])) {
            return timeline.spans[id].begin;
        }
    }
    throw RangeError("the step has no backward pass");
}

}  // namespace

LayerTime layer_time(const Simulation& run) {
    const Program& program = run.step.program;
    const RankClassId first_class{};
    const RankClass& stage = program.classes[first_class];
    const std::uint32_t end_op = stage.first_op + stage.ops;
    const Chunk& chunk = run.plan.stages[run.step.stage[first_class]].chunks.front();
    const std::uint32_t layer = chunk.first_layer + (chunk.layers > 1 ? 1 : 0);
    const Instant turned = turn(program, run.timeline, stage.first_op, end_op);
    PassExtent forward, backward;
    for (std::uint32_t i = stage.first_op; i < end_op; ++i) {
        const OpId id{i};
        const Op& op = program.ops[id];
        if (op.index != 0 || op.part != layer || !belongs_to_layers(program, op)) continue;
        const Span& span = run.timeline.spans[id];
        (span.begin < turned ? forward : backward).add(span);
    }
    return {forward.length(), backward.length()};
}

}  // namespace weft
