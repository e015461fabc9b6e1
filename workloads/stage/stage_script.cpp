#include "workloads/stage/stage_script.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "workloads/stage/pass_writer.hpp"

namespace weft {
namespace {

// Writes the script of one stage: its slots in order, and what it hands over to the stages beside it.
class StageWriter {
  public:
    StageWriter(const Plan& plan, std::uint32_t stage, StepKind kind)
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
    Script step() {
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
    Script start_up() {
        Calls calls = job_.framework->start_up(job_, index_);
        for (Call& call : calls) {
            if (call.crosses_boundary()) call.first_use = job_.first_use;
        }
        step_calls(calls);
        data_parallel_->start_up(script_);
        return std::move(script_);
    }

  private:
    using Calls = std::vector<Call>;
    using Cell = std::span<const Slot>;  // slots that run as one

    // What crosses the boundary before or after a slot, direction and peer filled in. A port is one model part's
    // crossing in one direction: both sides number it by the chunk of the part that the activation leaves.
    Calls exchanged(const Slot& slot, Direction direction) {
        if (slot.kind == SlotKind::weight_backward) return {};
        const bool forward = slot.kind == SlotKind::forward;
        const std::vector<Place>& path = paths_[slot.chunk];
        const std::uint32_t part = stage_.chunks[slot.chunk].part;
        const bool ahead = (direction == Direction::send) == forward;  // the other side is the next part
        if (ahead ? part + 1 == path.size() : part == 0) return {};
        const Place& other = path[ahead ? part + 1 : part - 1];
        if (other.stage == index_) return {};
        const std::uint32_t leaves = ahead ? slot.chunk : other.chunk;
        const std::uint32_t port = 2 * leaves + (forward ? 0 : 1);
        const bool fresh = kind_ == StepKind::first && used_.emplace(other.stage, port, direction).second;
        Calls calls = forward ? job_.framework->activation(job_) : job_.framework->gradient(job_);
        if (fresh && forward) {
            const Calls shapes = job_.framework->shapes(job_);
            calls.insert(calls.begin(), shapes.begin(), shapes.end());
        }
        // Behind prediction modules that stand apart their outputs travel beside the last hidden state.
        const bool predicted = job_.predicts_apart() && (ahead ? part : part - 1) >= job_.prediction_part();
        for (Call& call : calls) {
            if (predicted && call.type != "int64") call.message = call.message * (1.0 + job_.model.mtp_layers);
            call.direction = direction;
            call.peer = other.stage;
            call.port = port;
        }
        const bool connects = fresh && !connected_.contains({other.stage, port, direction});
        if (connects && !calls.empty()) calls.front().first_use = job_.first_use;
        return calls;
    }

    void blocking(const Slot& slot, Direction direction) {
        for (const Call& call : exchanged(slot, direction)) script_.call(call, {slot.micro_batch, 0});
    }
    void hand_over(const Slot* done, const Slot* next) {
        const bool turns = done != nullptr && next != nullptr && done->kind != next->kind;
        if (turns && job_.framework->handover == Handover::paired) return exchange({done, 1}, {next, 1});
        const bool waits = turns && receives_first(*done, *next);
        if (waits) blocking(*next, Direction::receive);
        if (done != nullptr) blocking(*done, Direction::send);
        if (next != nullptr && !waits) blocking(*next, Direction::receive);
    }
    // When the next stage runs the forward and the backward of each micro-batch.
    void find_neighbours_turns() {
        turns_.resize(job_.micro_batches());
        const std::vector<Slot>& theirs = plan_.stages[index_ + 1].slots;
        for (std::size_t i = 0; i < theirs.size(); ++i) {
            Turns& turns = turns_[theirs[i].micro_batch];
            (theirs[i].kind == SlotKind::forward ? turns.forward : turns.backward) = i;
        }
    }
    // Between a forward and a backward slot the neighbour's order decides: if it runs `next` before it can take what
    // `done` has to send, waiting for it to take that first would never end.
    bool receives_first(const Slot& done, const Slot& next) const {
        if (done.kind != SlotKind::forward || next.kind != SlotKind::backward || stage_.has_head()) return false;
        return turns_[next.micro_batch].backward < turns_[done.micro_batch].forward;
    }
    // Complete on the last slot that finishes weights' gradients of its chunk; it pauses where the next such slot is of
    // another chunk.
    Accumulation accumulation(const Slot& slot) const {
        if (&slot == last_[slot.chunk]) return Accumulation::complete;
        const auto finishes = [](const Slot& other) {
            return other.kind == SlotKind::backward || other.kind == SlotKind::weight_backward;
        };
        const auto next = std::find_if(&slot + 1, stage_.slots.data() + stage_.slots.size(), finishes);
        return next->chunk == slot.chunk ? Accumulation::continues : Accumulation::pauses;
    }
    Cell cell_at(std::size_t first) const {
        return Cell(stage_.slots).subspan(first, stage_.slots[first].runs == Slot::Runs::with_next ? 2 : 1);
    }
    // DeepSpeed's timers of a pass synchronise (utils/timer.py, SynchronizedWallClockTimer: start and stop; engine.py).
    void run(const Slot& slot) {
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
    PassWriter::JointEnds run(Cell cell) {
        if (cell.size() > 1) return passes_.joint(cell.front(), cell.back(), accumulation(cell.back()));
        run(cell.front());
        return {};
    }
    // Joint passes are for stages that hand nothing over, or hand over beside.
    void blocking_slots() {
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
    // Receives are posted as early as their lane allows; a send follows its slot, and the next slot does not wait for
    // it. Megatron-core hands on what one half of a joint pass has made while the rest of it runs (post_forward and
    // post_backward of TransformerModelChunkSchedulePlan.run), DualPipe what the whole has made (dualpipe.py,
    // _forward_backward_chunk).
    void slots_beside() {
        std::vector<ActionId> sent;
        for (std::size_t i = 0; i < stage_.slots.size();) {
            const Cell cell = cell_at(i);
            for (const Slot& slot : cell) {
                for (const Call& call : exchanged(slot, Direction::receive)) {
                    script_.wait(script_.issue(call, {slot.micro_batch, 0}, Action::none));
                }
            }
            const PassWriter::JointEnds ends = run(cell);
            const bool whole = cell.size() == 1 || job_.schedule->copies > 1;
            for (const Slot& slot : cell) {
                for (const Call& call : exchanged(slot, Direction::send)) {
                    const ActionId half = slot.kind == SlotKind::forward ? ends.output : ends.gradient;
                    sent.push_back(script_.issue(call, {slot.micro_batch, 0}, whole ? script_.now() : half));
                }
            }
            i += cell.size();
        }
        script_.finish(sent);
    }
    // Megatron's interleaving without overlap_p2p_communication (core/pipeline_parallel/schedules.py).
    bool hands_over_in_batches() const {
        const bool interleaves = job_.schedule->chunks == 0;
        return interleaves && job_.framework->overlaps_pipeline(job_) == Setting::off;
    }
    void batched_slots() {
        const std::span<const Slot> slots = stage_.slots;
        std::size_t first = 0, end = end_of_unit(0);
        exchange({}, slots.subspan(0, end));
        while (first < slots.size()) {
            passes_.host().synchronise();
            for (std::size_t i = first; i < end; i += cell_at(i).size()) run(cell_at(i));
            const std::size_t next = end < slots.size() ? end_of_unit(end) : end;
            exchange(slots.subspan(first, end - first), slots.subspan(end, next - end));
            first = end;
            end = next;
        }
        passes_.host().synchronise();
    }
    // One batch of sends and receives, awaited together.
    void exchange(std::span<const Slot> done, std::span<const Slot> next) {
        const ActionId start = script_.now();
        std::vector<ActionId> under_way;
        const auto issue = [&](std::span<const Slot> slots, Direction direction) {
            for (const Slot& slot : slots) {
                for (const Call& call : exchanged(slot, direction))
                    under_way.push_back(script_.issue(call, {slot.micro_batch, 0}, start));
            }
        };
        issue(done, Direction::send);
        issue(next, Direction::receive);
        script_.finish(under_way);
    }
    // Slots with nothing exchanged between them: a forward with the backward that follows it, but for the forward that
    // ends a warm-up of all micro-batches, whose output the next stage needs first.
    std::size_t end_of_unit(std::size_t first) const {
        const std::vector<Slot>& slots = stage_.slots;
        const bool turns = first + 1 < slots.size() && slots[first].kind == SlotKind::forward &&
                           slots[first + 1].kind != SlotKind::forward;
        const bool all_warm_up = turns && 2 * (first + 1) == slots.size();
        return first + (turns && !all_warm_up ? 2 : 1);
    }
    void step_calls(const Calls& calls) {
        for (const Call& call : calls) script_.call(call);
    }
    // Parameters that several ranks hold apart from data parallelism: the two copies under a bidirectional schedule,
    // and what schemes have of them.
    void reduce_shared_gradients() {
        std::vector<Call> calls;
        for (const Scheme* scheme : parallelism::all()) {
            if (scheme->finish != nullptr) scheme->finish(job_, stage_.modules, calls);
        }
        step_calls(calls);
        step_calls(expert_bias_calls(job_, stage_.modules));
    }
    // As a pass, which ends no earlier than its last launch.
    void update() {
        passes_.host().begin();
        script_.compute("optimizer", stage_.optimizer, {});
        if (job_.modules == ModuleCode::framework) return;
        passes_.host().issue(update_operations(job_, stage_.modules));
        passes_.host().end({});
    }
    void finish() {
        const Framework& framework = *job_.framework;
        if (job_.schedule->copies > 1) {
            const double bytes = framework.gradient_bytes(job_);
            script_.call({Collective::all_reduce,
                          RankGroups::mirror(),
                          {stage_.trained() * bytes},
                          "all-reduce mirrored gradients",
                          bytes == 4.0 ? "fp32" : element_name(job_)});
        }
        data_parallel_->finish_gradients(script_);
        reduce_shared_gradients();
        data_parallel_->before_optimizer(script_);
        update();
        data_parallel_->after_optimizer(script_);
        step_calls(framework.step_end(job_, index_));
    }

    const Plan& plan_;
    const Job& job_;
    const Stage& stage_;
    std::uint32_t index_;
    StepKind kind_;
    Script script_;
    std::unique_ptr<DataParallel> data_parallel_;
    PassWriter passes_;
    std::vector<const Slot*> last_;  // of each chunk, that computes weights' gradients
    struct Turns {
        std::size_t forward = 0, backward = 0;  // index of the slot
    };
    std::vector<Turns> turns_;               // of the next stage, by micro-batch; only under blocking hand-over
    std::vector<std::vector<Place>> paths_;  // of the micro-batches that visit each chunk
    // Peer, port and direction: set up at start-up, used in this step.
    std::set<std::tuple<std::uint32_t, std::uint32_t, Direction>> connected_, used_;
};

}  // namespace

Script step_script(const Plan& plan, std::uint32_t stage, StepKind kind) {
    return StageWriter(plan, stage, kind).step();
}

Script start_up_script(const Plan& plan, std::uint32_t stage) {
    return StageWriter(plan, stage, StepKind::first).start_up();
}

}  // namespace weft
