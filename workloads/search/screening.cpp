#include "workloads/search/screening.hpp"

#include <algorithm>

namespace weft {

Screen::Screen(const Study& base, const Topology& topology)
    : Screen(base, std::make_shared<CallCosts>(topology, library_of(empty_plan(base)))) {}

Screen::Screen(const Study& base, std::shared_ptr<CallCosts> costs)
    : plan_(empty_plan(base)), call_costs_(std::move(costs)) {}

Screen::ShapeKey Screen::shape_key() const {
    const PipelineShape shape = plan_.job.pipeline_shape();
    return {plan_.job.schedule, shape.stages, shape.micro_batches, shape.chunks, shape.passes};
}

const std::vector<std::vector<Moment>>& Screen::moments() {
    const auto [it, fresh] = moments_.try_emplace(shape_key());
    if (!fresh) return it->second;
    const PipelineShape shape = plan_.job.pipeline_shape();
    for (std::uint32_t stage = 0; stage < shape.stages; ++stage) {
        it->second.push_back(fullest_moments(plan_.job.schedule->slots(shape, stage), shape.chunks));
    }
    return it->second;
}

const PipelineClock& Screen::clock() {
    return clocks_.try_emplace(shape_key(), *plan_.job.schedule, plan_.job.pipeline_shape()).first->second;
}

Screen::CostKey Screen::cost_key() const {
    const Job& job = plan_.job;
    // What hooks add to what the host issues depends on the last two (host_operations.cpp).
    return {job.shard(), job.framework->accumulation(job).value, job.recompute, job.zero, job.layout.pipeline == 1};
}

const PartCosts& Screen::costs() {
    const auto [it, fresh] = costs_.try_emplace(cost_key());
    if (fresh) it->second = part_costs(plan_);
    return it->second;
}

std::vector<std::uint32_t> Screen::first_equal(const std::vector<std::vector<Chunk>>& stages) const {
    const Job& job = plan_.job;
    using Part = std::vector<std::uint32_t>;  // layers of each kind, and which ends of the model it has
    std::vector<std::uint32_t> first;
    std::map<std::vector<Part>, std::uint32_t> known;
    for (std::uint32_t stage = 0; stage < stages.size(); ++stage) {
        std::vector<Part> parts;
        for (const Chunk& chunk : stages[stage]) {
            Part& own = parts.emplace_back(layer_kinds(job.model) + 1, 0);
            own.back() = static_cast<std::uint32_t>(chunk.ends) | (chunk.predictions > 0 ? 4U : 0U);
            if (!job.experts.by_layer.empty()) own.back() += 8 * chunk.part;  // like no other
            for (std::uint32_t i = 0; i < chunk.layers; ++i) {
                ++own[static_cast<std::size_t>(layer_kind(job.model, chunk.first_layer + i))];
            }
        }
        first.push_back(known.try_emplace(std::move(parts), stage).first->second);
    }
    return first;
}

Stage& Screen::stage(const std::vector<Chunk>& chunks) {
    const Job& job = plan_.job;
    const LayerSplit split = job.split();
    std::vector<std::array<std::uint32_t, 4>> parts;
    for (const Chunk& chunk : chunks) {
        parts.push_back({chunk.first_layer, chunk.layers, chunk.predictions, static_cast<std::uint32_t>(chunk.ends)});
    }
    const bool apart = job.reduces_experts_apart(), copies = job.copies_embedding();
    const auto [it, fresh] = stages_.try_emplace(
        {{split.tensor, split.expert, split.expert_tensor, apart, copies}, job.recompute, std::move(parts)});
    if (fresh) it->second = make_stage(plan_, chunks);
    for (Chunk& chunk : it->second.chunks) count_activations(job, chunk, held());
    return it->second;
}

MemoryVerdict Screen::memory() {
    constexpr std::size_t most_stages = 256;
    if (stages_.size() > most_stages) stages_.clear();
    const std::vector<std::vector<Chunk>> chunks = stage_chunks(plan_.job);
    first_equal_ = first_equal(chunks);
    own_.assign(chunks.size(), nullptr);
    const std::vector<std::vector<Moment>>& moments = this->moments();
    MemoryUse fullest;
    for (std::uint32_t stage = 0; stage < chunks.size(); ++stage) {
        const std::uint32_t first = first_equal_[stage];
        own_[stage] = first == stage ? &this->stage(chunks[stage]) : own_[first];
        const bool same = first < stage && moments[first] == moments[stage];
        if (same) continue;
        const MemoryUse use = memory_use(plan_.job, *own_[stage], moments[stage], held());
        if (use.total() > fullest.total()) fullest = use;
    }
    return {.peak = fullest.total(), .fits = fullest.least() <= plan_.device.memory};
}

// From each stage to its neighbour `step` further on: one after another, as the calls are.
std::vector<double> Screen::crossing(const std::vector<Call>& calls, int step) {
    const std::uint32_t stages = plan_.job.layout.pipeline;
    std::vector<double> times(stages, 0.0);
    if (stages == 1) return times;
    for (std::uint32_t stage = 0; stage < stages; ++stage) {
        const std::uint32_t other = (stage + stages + static_cast<std::uint32_t>(step)) % stages;
        for (Call call : calls) {
            call.direction = Direction::send;
            call.peer = other;
            times[stage] += call_costs_->time(call, stage).value;
        }
    }
    return times;
}

// What travels beside computation slows it down: of a slot that takes t, for what it receives and what it sends.
void Screen::slow_down(PipelineTimes& pipeline, std::vector<StageTimes>& own) const {
    const double factor = plan_.device.interference;
    if (factor == 1.0 || plan_.job.layout.pipeline == 1) return;
    const auto longer = [&](double time, double transfer) {
        return std::min(transfer, time * factor) * (1 - 1 / factor);
    };
    for (std::size_t stage = 0; stage < own.size(); ++stage) {
        const double forward = pipeline.forward_crossing[stage], backward = pipeline.backward_crossing[stage];
        for (std::uint32_t c = 0; c < pipeline.chunks; ++c) {
            PartTimes& part = pipeline.parts[stage * pipeline.chunks + c];
            const Chunk& chunk = own_[stage]->chunks[c];
            const double crossings = (chunk.has_embedding() ? 0 : 1) + (chunk.has_head() ? 0 : 1);
            const double more_forward = longer(part.forward, forward * crossings),
                         more_backward = longer(part.input_backward, backward * crossings);
            part.forward += more_forward;
            part.input_backward += more_backward;
            part.backward += more_backward;
            own[stage].compute += Seconds{more_forward + more_backward};
            if (pipeline.joint.empty()) continue;
            for (std::uint32_t other = 0; other < pipeline.chunks; ++other) {
                pipeline.joint[(stage * pipeline.chunks + c) * pipeline.chunks + other] += more_forward + more_backward;
            }
        }
    }
}

PipelineTimes Screen::pipeline() {
    const Job& job = plan_.job;
    plan_.costs = costs();
    plan_.host_bound = host_bound(plan_);
    call_costs_->lay_out(job.layout);
    return {.chunks = job.pipeline_shape().chunks,
            .parts = {},
            .forward_crossing = crossing(job.framework->activation(job), 1),
            .backward_crossing = crossing(job.framework->gradient(job), -1)};
}

StepEstimate Screen::estimate() {
    const Job& job = plan_.job;
    PipelineTimes pipeline = this->pipeline();
    const std::uint32_t stages = job.layout.pipeline;
    std::vector<StageTimes> own(stages);
    plan_.stages.assign(stages, {});
    for (std::uint32_t stage = 0; stage < stages; ++stage) {
        const std::uint32_t first = first_equal_[stage];
        if (first == stage) {
            plan_.stages[stage] = *own_[stage];
            plan_.stages[stage].optimizer = update_time(plan_, plan_.stages[stage]);
            own[stage] = stage_times(plan_, stage, *call_costs_);
        } else {
            own[stage] = own[first];
        }
        pipeline.parts.insert(pipeline.parts.end(), own[stage].chunks.begin(), own[stage].chunks.end());
        pipeline.joint.insert(pipeline.joint.end(), own[stage].joint.begin(), own[stage].joint.end());
    }
    if (job.schedule->handover == Schedule::Handover::beside) slow_down(pipeline, own);
    const std::vector<double> ends = clock().ends(pipeline);
    StepEstimate estimate;
    for (std::uint32_t stage = 0; stage < stages; ++stage) {
        estimate.time = std::max(estimate.time, Seconds{ends[stage]} + own[stage].once);
    }
    const double micro_batches = double(job.micro_batches()) / job.schedule->copies;
    for (const StageTimes& times : own) {
        estimate.compute += (times.compute * micro_batches + times.once_compute) / stages;
        estimate.exposed += (times.exposed * micro_batches + (times.once - times.once_compute)) / stages;
    }
    estimate.waiting = estimate.time - estimate.compute - estimate.exposed;
    return estimate;
}

}  // namespace weft
