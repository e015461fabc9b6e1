#include "workloads/search/screening.hpp"

#include <algorithm>

#include "workloads/stage/pass_writer.hpp"

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
    if (!clock_ || clock_->first != shape_key())
        clock_.emplace(shape_key(), PipelineClock(*plan_.job.schedule, plan_.job.pipeline_shape()));
    return clock_->second;
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
    for (Chunk& chunk : it->second.chunks) count_activations(job, chunk, *held_);
    return it->second;
}

FullestPass Screen::fullest_pass(const Stage& stage, const std::vector<Moment>& moments) {
    const Job& job = plan_.job;
    if (!job.framework->passing(job).stay()) return weft::fullest_pass(job, stage, moments, *held_);
    const auto [it, fresh] = passes_.try_emplace({&stage, &moments, held_});
    if (fresh) it->second = weft::fullest_pass(job, stage, moments, *held_);
    return it->second;
}

MemoryVerdict Screen::memory() {
    constexpr std::size_t most_stages = 256;
    if (stages_.size() > most_stages) {
        stages_.clear();
        passes_.clear();
    }
    held_ = &held_by_[{plan_.job.shard(), plan_.job.recompute}];
    if (plan_.job.layout.split == StageSplit::cost) deal_by_cost(plan_.job, costs());
    const std::vector<std::vector<Chunk>> chunks = stage_chunks(plan_.job);
    first_equal_ = first_equal(chunks);
    own_.assign(chunks.size(), nullptr);
    const std::vector<std::vector<Moment>>& moments = this->moments();
    MemoryUse fullest;
    for (std::uint32_t stage = 0; stage < chunks.size(); ++stage) {
        const std::uint32_t first = first_equal_[stage];
        own_[stage] = first == stage ? &this->stage(chunks[stage]) : own_[first];
        if (first < stage && moments[first] == moments[stage]) continue;
        const MemoryUse use = memory_use(plan_.job, *own_[stage], fullest_pass(*own_[stage], moments[stage]));
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

PipelineTimes Screen::crossings() {
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
    PipelineTimes pipeline = crossings();
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

// The least that a step takes in closed form: work and calls of layers, what crosses between stages, the pipeline's
// bubble, the optimizer. It leaves out what data parallelism calls, calls at the ends of model parts, the pace of the
// host and what slows computation down.

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

// A stage has all its work to do once the first micro-batch has come to it, and then, unless weights' gradients are put
// off, the last one goes back to where it came from. Of micro-batches in both directions either may come at once.
Seconds Screen::bound() {
    const Job& job = plan_.job;
    const PipelineTimes crossings = this->crossings();
    axes_.virtual_stages = job.layout.virtual_stages;  // on which no layer depends
    if (axes_ != job.layout) layers_.clear();
    axes_ = job.layout;
    const auto [layers, fresh] = layers_.try_emplace({cost_key(), job.megatron.overlap_tensor, job.schedule->copies});
    if (fresh) layers->second = layer_times();
    const std::uint32_t copies = job.schedule->copies;
    const double micro_batches = double(job.micro_batches()) / copies;
    struct Work {
        std::vector<PartTimes> parts;  // by chunk
        double all = 0;                // of a step
    };
    std::vector<Work> stages;
    for (std::uint32_t stage = 0; stage < own_.size(); ++stage) {
        const std::uint32_t first = first_equal_[stage];
        Work work = first < stage ? stages[first] : Work{.parts = {}, .all = update_time(plan_, *own_[stage]).value};
        for (std::size_t c = work.parts.size(); c < own_[stage]->chunks.size(); ++c) {
            const PartTimes& part = work.parts.emplace_back(least(own_[stage]->chunks[c], layers->second));
            work.all += (part.forward + part.backward) * micro_batches;
        }
        stages.push_back(std::move(work));
    }
    double time = 0, on_the_way = 0;  // before a stage begins, and after it has ended
    const bool goes_back = copies == 1 && !job.schedule->needs.weights_apart;
    std::vector<bool> seen(stages.size());
    for (const auto& [stage, chunk] : job.schedule->path(job.pipeline_shape(), 0)) {
        if (goes_back && stage > 0) on_the_way += crossings.backward_crossing[stage];
        if (!seen[stage]) time = std::max(time, on_the_way + stages[stage].all);
        seen[stage] = true;
        if (copies > 1) continue;
        on_the_way += stages[stage].parts[chunk].forward + crossings.forward_crossing[stage];
        if (goes_back) on_the_way += stages[stage].parts[chunk].backward;
    }
    constexpr double rounding = 1e-9;
    return Seconds{time * (1 - rounding)};
}

}  // namespace weft
