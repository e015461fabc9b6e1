// The least that a step takes in closed form: work and calls of layers, what crosses between stages, the pipeline's
// bubble, the optimizer. It leaves out what data parallelism calls, calls at the ends of model parts, the pace of the
// host and what slows computation down.
#include <algorithm>
#include <functional>
#include <utility>

#include "workloads/plan/stage_memory.hpp"
#include "workloads/search/screening.hpp"
#include "workloads/stage/pass_writer.hpp"

namespace weft {
namespace {

// One micro-batch through a part of the plan's only stage: forward and backward.
PartTimes pass_times(const Plan& plan, std::uint32_t chunk, CallCosts& costs) {
    Script script;
    DataParallel none;
    PassWriter passes(plan, 0, none, script);
    ScriptClock clock(costs, 0, plan.device.interference);
    PartTimes times;
    passes.forward({SlotKind::forward, 0, chunk});
    times.forward = clock.read(script).time.value;
    passes.backward({SlotKind::backward, 0, chunk}, Halves::both, Accumulation::continues);
    times.backward = clock.read(script).time.value - times.forward;
    return times;
}

}  // namespace

// Where a layer has one alike behind it, what that adds to a pass of both; elsewhere its computation.
std::vector<PartTimes> Screen::layer_times() {
    const Job& job = plan_.job;
    std::vector<PartTimes> times(job.layer_places());
    for (std::size_t place = 0; place < times.size(); ++place) {
        for (const PieceCost& piece : plan_.costs.layers[place].pieces) {
            times[place].forward += piece.forward.value;
            times[place].weight_backward += piece.weight_backward.value;
            times[place].backward += (piece.input_backward + piece.weight_backward).value;
        }
    }
    const bool alike = job.recompute.method == RecomputeMethod::uniform && job.recompute.group() == 1;
    const bool joint = job.pipeline_shape().passes == PassOrder::joint;
    if (!alike || joint || job.offloaded_layers > 0) return times;
    std::vector<Chunk> chunks;  // of one layer and of two, in turn
    const auto place = [&](const Chunk& chunk) { return job.layer_place(chunk.first_layer); };
    for (Chunk chunk; chunk.first_layer + 1 < job.model.layers; ++chunk.first_layer) {
        const bool met = std::ranges::find(chunks, place(chunk), place) != chunks.end();
        if (met || job.layer_place(chunk.first_layer + 1) != place(chunk)) continue;
        for (chunk.layers = 1; chunk.layers <= 2; ++chunk.layers) chunks.push_back(chunk);
    }
    plan_.stages.assign(1, stage(chunks));
    const bool host_bound = std::exchange(plan_.host_bound, false);  // it may be ahead when a pass begins
    for (std::uint32_t c = 0; c < chunks.size(); c += 2) {
        const PartTimes one = pass_times(plan_, c, *call_costs_), two = pass_times(plan_, c + 1, *call_costs_);
        times[place(chunks[c])].forward = two.forward - one.forward;
        times[place(chunks[c])].backward = two.backward - one.backward;
    }
    plan_.host_bound = host_bound;
    return times;
}

PartTimes Screen::least(const Chunk& chunk, const std::vector<PartTimes>& layers) const {
    const PartCosts& costs = plan_.costs;
    PartTimes part;
    if (chunk.has_embedding()) {
        part.forward += costs.embedding_forward.value;
        part.weight_backward += costs.embedding_backward.value;
    }
    if (chunk.has_head()) {
        part.forward += (costs.final_norm_forward + costs.head_forward).value;
        part.weight_backward += costs.head_weight_backward.value;
        part.backward += (costs.final_norm_backward + costs.head_input_backward).value;
    }
    part.backward += part.weight_backward;
    for (std::uint32_t i = 0; i < chunk.layers; ++i) {
        const PartTimes& layer = layers[plan_.job.layer_place(chunk.first_layer + i)];
        part.forward += layer.forward;
        part.weight_backward += layer.weight_backward;
        part.backward += layer.backward;
    }
    part.weight_backward = std::min(part.weight_backward, part.backward);
    part.input_backward = part.backward - part.weight_backward;
    return part;
}

Seconds Screen::bound() {
    const Job& job = plan_.job;
    PipelineTimes pipeline = this->pipeline();
    axes_.virtual_stages = job.layout.virtual_stages;  // on which no layer depends
    if (axes_ != job.layout) layers_.clear();
    axes_ = job.layout;
    const auto [layers, fresh] = layers_.try_emplace({cost_key(), job.megatron.overlap_tensor, job.schedule->copies});
    if (fresh) layers->second = layer_times();
    std::vector<double> once;
    for (std::uint32_t stage = 0; stage < own_.size(); ++stage) {
        const bool again = first_equal_[stage] < stage;
        once.push_back(again ? once[first_equal_[stage]] : update_time(plan_, *own_[stage]).value);
        const std::size_t parts = pipeline.parts.size();
        for (const Chunk& chunk : own_[stage]->chunks) pipeline.parts.push_back(least(chunk, layers->second));
        if (job.pipeline_shape().passes != PassOrder::joint) continue;
        for (std::size_t ahead = parts; ahead < pipeline.parts.size(); ++ahead) {
            for (std::size_t behind = parts; behind < pipeline.parts.size(); ++behind) {
                pipeline.joint.push_back(pipeline.parts[ahead].forward + pipeline.parts[behind].backward);
            }
        }
    }
    std::vector<double> ends = clock().ends(pipeline);
    std::ranges::transform(ends, once, ends.begin(), std::plus{});
    constexpr double rounding = 1e-9;
    return Seconds{std::ranges::max(ends) * (1 - rounding)};
}

}  // namespace weft
