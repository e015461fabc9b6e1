#include "workloads/stage/stage_script.hpp"

#include <algorithm>

#include "sim/base/check.hpp"
#include "workloads/framework/expert_balancing.hpp"
#include "workloads/framework/framework.hpp"

namespace weft {

StageWriter::StageWriter(const Plan& plan, std::uint32_t stage, StepKind kind)
    : plan_(plan),
      job_(plan.job),
      stage_(plan.stages[stage]),
      index_(stage),
      kind_(kind),
      data_parallel_(plan.job.framework->data_parallel(sharding_input(plan, stage, kind))),
      passes_(plan, stage, *data_parallel_, script_),
      last_(stage_.chunks.size(), nullptr),
      paths_(stage_.chunks.size()) {
    for (const Call& call : job_.framework->start_up(job_, stage)) {
        if (call.crosses_boundary()) connected_.emplace(call.peer, call.port, call.direction);
    }
    for (const Slot& slot : stage_.slots) {
        if (slot.kind == SlotKind::backward || slot.kind == SlotKind::weight_backward) last_[slot.chunk] = &slot;
        if (paths_.at(slot.chunk).empty()) {
            paths_[slot.chunk] = job_.schedule->path(job_.pipeline_shape(), slot.micro_batch);
        }
    }
    if (job_.schedule->handover == Schedule::Handover::blocking && index_ + 1 < plan.stages.size()) {
        find_neighbours_turns();
    }
}

Script StageWriter::step() {
    data_parallel_->begin_step(script_);
    if (job_.schedule->handover == Schedule::Handover::blocking) {
        blocking_slots();
    } else if (hands_over_in_batches()) {
        batched_slots();
    } else {
        slots_beside();
    }
    finish();
    return std::move(script_);
}

Script StageWriter::start_up() {
    Calls calls = job_.framework->start_up(job_, index_);
    for (Call& call : calls) {
        if (call.crosses_boundary()) call.first_use = job_.first_use;
    }
    step_calls(calls);
    data_parallel_->start_up(script_);
    return std::move(script_);
}

// Complete on the last slot that finishes weights' gradients of its chunk; it pauses where the next such slot is of
// another chunk.
Accumulation StageWriter::accumulation(const Slot& slot) const {
    if (&slot == last_[slot.chunk]) return Accumulation::complete;
    const auto finishes = [](const Slot& other) {
        return other.kind == SlotKind::backward || other.kind == SlotKind::weight_backward;
    };
    const auto next = std::find_if(&slot + 1, stage_.slots.data() + stage_.slots.size(), finishes);
    return next->chunk == slot.chunk ? Accumulation::continues : Accumulation::pauses;
}

// DeepSpeed's timers of a pass synchronise (utils/timer.py, SynchronizedWallClockTimer: start and stop; engine.py).
void StageWriter::run(const Slot& slot) {
    if (job_.deepspeed.wall_clock_breakdown == Setting::on) passes_.host().synchronise();
    switch (slot.kind) {
        case SlotKind::forward:
            passes_.forward(slot);
            if (stage_.chunks[slot.chunk].has_head() && checks_for_nan(job_)) passes_.host().synchronise();
            return;
        case SlotKind::backward:
            return passes_.backward(slot, Halves::both, accumulation(slot));
        case SlotKind::input_backward:
            return passes_.backward(slot, Halves::input, Accumulation::continues);
        case SlotKind::weight_backward:
            return passes_.backward(slot, Halves::weight, accumulation(slot));
    }
}

StageWriter::Cell StageWriter::cell_at(std::size_t first) const {
    return Cell(stage_.slots).subspan(first, stage_.slots[first].runs == Slot::Runs::with_next ? 2 : 1);
}

PassWriter::JointEnds StageWriter::run(Cell cell) {
    if (cell.size() > 1) return passes_.joint(cell.front(), cell.back(), accumulation(cell.back()));
    run(cell.front());
    return {};
}

// Joint passes are for stages that hand nothing over, or hand over beside.
void StageWriter::blocking_slots() {
    const Slot* done = nullptr;
    for (std::size_t i = 0; i < stage_.slots.size();) {
        const Cell cell = cell_at(i);
        hand_over(done, &cell.front());
        if (job_.layout.pipeline > 1) passes_.host().synchronise();  // Megatron's _communicate does after each
        run(cell);
        done = &cell.back();
        i += cell.size();
    }
    hand_over(done, nullptr);
}

// Receives are posted as early as their lane allows; a send follows its slot, and the next slot does not wait for it.
// Megatron-core hands on what one half of a joint pass has made while the rest of it runs (post_forward and
// post_backward of TransformerModelChunkSchedulePlan.run), DualPipe what the whole has made (dualpipe.py,
// _forward_backward_chunk).
void StageWriter::slots_beside() {
    std::vector<ActionId> sent;
    for (std::size_t i = 0; i < stage_.slots.size();) {
        const Cell cell = cell_at(i);
        for (const Slot& slot : cell) {
            for (const Call& call : receives(slot)) {
                script_.wait(script_.issue(call, {slot.micro_batch, 0}, Action::none));
            }
        }
        const PassWriter::JointEnds ends = run(cell);
        const bool whole = cell.size() == 1 || job_.schedule->copies > 1;
        for (const Slot& slot : cell) {
            for (const Call& call : sends(slot)) {
                const ActionId half = slot.kind == SlotKind::forward ? ends.output : ends.gradient;
                sent.push_back(script_.issue(call, {slot.micro_batch, 0}, whole ? script_.now() : half));
            }
        }
        i += cell.size();
    }
    for (const ActionId issued : sent) script_.wait(issued);
}

void StageWriter::batched_slots() {
    const std::span<const Slot> slots = stage_.slots;
    std::size_t first = 0, end = end_of_unit(0);
    exchange({}, slots.subspan(0, end));
    while (first < slots.size()) {
        for (std::size_t i = first; i < end; i += cell_at(i).size()) run(cell_at(i));
        const std::size_t next = end < slots.size() ? end_of_unit(end) : end;
        exchange(slots.subspan(first, end - first), slots.subspan(end, next - end));
        first = end;
        end = next;
    }
}

void StageWriter::step_calls(const Calls& calls) {
    for (const Call& call : calls) script_.call(call, {});
}

// Parameters that several ranks hold apart from data parallelism: the two copies under a bidirectional schedule, and
// what schemes have of them.
void StageWriter::reduce_shared_gradients() {
    std::vector<Call> calls;
    for (const Scheme* scheme : parallelism::all()) {
        if (scheme->finish != nullptr) scheme->finish(job_, stage_.modules, calls);
    }
    step_calls(calls);
    step_calls(expert_bias_calls(job_, stage_.modules));
}

// As a pass, which ends no earlier than its last launch.
void StageWriter::update() {
    passes_.host().begin();
    script_.compute("optimizer", stage_.optimizer, {});
    if (job_.modules == ModuleCode::framework) return;
    passes_.host().issue(update_operations(job_, stage_.modules));
    passes_.host().end({});
}

void StageWriter::finish() {
    const Framework& framework = *job_.framework;
    if (job_.schedule->copies > 1) {
        const double bytes = framework.gradient_bytes(job_);
        script_.call({Collective::all_reduce,
                      RankGroups::mirror(),
                      {stage_.trained() * bytes},
                      "all-reduce mirrored gradients",
                      bytes == 4.0 ? "fp32" : element_name(job_)},
                     {});
    }
    data_parallel_->finish_gradients(script_);
    reduce_shared_gradients();
    data_parallel_->before_optimizer(script_);
    update();
    data_parallel_->after_optimizer(script_);
    step_calls(framework.step_end(job_, index_));
}

Script step_script(const Plan& plan, std::uint32_t stage, StepKind kind) {
    return StageWriter(plan, stage, kind).step();
}

Script start_up_script(const Plan& plan, std::uint32_t stage) {
    return StageWriter(plan, stage, StepKind::first).start_up();
}

}  // namespace weft
