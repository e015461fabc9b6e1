#include "workloads/step/stage_script.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <tuple>

#include "sim/base/check.hpp"
#include "workloads/framework/calls.hpp"
#include "workloads/step/pass_writer.hpp"

namespace weft {
namespace {

// Elements of a module whose gradient every tensor rank holds a part of under sequence parallelism: norms, routers, and
// the biases that are added to row-parallel outputs.
double sequence_parallel_elements(const StageModule& module) {
    const bool whole = module.name.ends_with("norm") || module.name == "router";
    const bool row_parallel =
        module.name == "dense" || module.name == "4h_to_h" || module.name == "shared experts down";
    double elements = 0;
    for (std::size_t i = 0; i < module.tensors.size(); ++i) {
        if (whole || (row_parallel && module.vector[i])) elements += static_cast<double>(module.tensors[i]);
    }
    return elements;
}

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
            if (call.group == GroupKind::boundary) connected_.emplace(call.peer, call.port, call.direction);
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
            if (call.group == GroupKind::boundary) call.first_use = job_.first_use;
        }
        step_calls(calls);
        data_parallel_->start_up(script_);
        return std::move(script_);
    }

  private:
    using Calls = std::vector<Call>;

    // Boundary tensors, direction and peer filled in.
    Calls sends(const Slot& slot);
    Calls receives(const Slot& slot);
    Calls exchanged(const Slot& slot, Direction direction, Pass pass);

    void blocking(const Calls& calls, const Slot& slot);
    void hand_over(const Slot* done, const Slot* next);
    void find_neighbours_turns();
    bool receives_first(const Slot& done, const Slot& next) const;
    Accumulation accumulation(const Slot& slot) const;
    void run(const Slot& slot);
    void blocking_slots();
    void slots_beside();
    bool hands_over_in_batches() const;
    void batched_slots();
    void exchange(std::span<const Slot> done, std::span<const Slot> next);
    std::size_t end_of_unit(std::size_t first) const;
    void step_calls(const Calls& calls);
    void reduce_shared_gradients();
    void finish();

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
    // Peer, port and way: set up at start-up, used in this step.
    std::set<std::tuple<std::uint32_t, std::uint32_t, Direction>> connected_, used_;
};

// What crosses the boundary before or after a slot. A port is one model part's way across in one direction: both sides
// number it by the chunk of the part that the activation leaves.
StageWriter::Calls StageWriter::exchanged(const Slot& slot, Direction direction, Pass pass) {
    const std::vector<Place>& path = paths_[slot.chunk];
    const std::uint32_t part = stage_.chunks[slot.chunk].part;
    const bool ahead = (direction == Direction::send) == (pass == Pass::forward);  // the other side is the next part
    if (ahead ? part + 1 == path.size() : part == 0) return {};
    const Place& other = path[ahead ? part + 1 : part - 1];
    if (other.stage == index_) return {};
    const std::uint32_t leaves = ahead ? slot.chunk : other.chunk;
    const std::uint32_t port = 2 * leaves + (pass == Pass::forward ? 0 : 1);
    const bool fresh = kind_ == StepKind::first && used_.emplace(other.stage, port, direction).second;
    Calls calls = pass == Pass::forward ? job_.framework->activation(job_) : job_.framework->gradient(job_);
    if (fresh && pass == Pass::forward) {
        const Calls shapes = job_.framework->shapes(job_);
        calls.insert(calls.begin(), shapes.begin(), shapes.end());
    }
    for (Call& call : calls) {
        call.direction = direction;
        call.peer = other.stage;
        call.port = port;
    }
    const bool connects = fresh && !connected_.contains({other.stage, port, direction});
    if (connects && !calls.empty()) calls.front().first_use = job_.first_use;
    return calls;
}

StageWriter::Calls StageWriter::sends(const Slot& slot) {
    if (slot.kind == SlotKind::weight_backward) return {};
    return exchanged(slot, Direction::send, slot.kind == SlotKind::forward ? Pass::forward : Pass::backward);
}

StageWriter::Calls StageWriter::receives(const Slot& slot) {
    if (slot.kind == SlotKind::weight_backward) return {};
    return exchanged(slot, Direction::receive, slot.kind == SlotKind::forward ? Pass::forward : Pass::backward);
}

void StageWriter::blocking(const Calls& calls, const Slot& slot) {
    for (const Call& call : calls) script_.call(call, {slot.micro_batch, 0});
}

// When the next stage runs the forward and the backward of each micro-batch.
void StageWriter::find_neighbours_turns() {
    turns_.resize(job_.micro_batches());
    const std::vector<Slot>& theirs = plan_.stages[index_ + 1].slots;
    for (std::size_t i = 0; i < theirs.size(); ++i) {
        Turns& turns = turns_[theirs[i].micro_batch];
        (theirs[i].kind == SlotKind::forward ? turns.forward : turns.backward) = i;
    }
}

// Between a forward and a backward slot the neighbour's order decides: if it runs `next` before it can take what
// `done` has to send, waiting for it to take that first would never end.
bool StageWriter::receives_first(const Slot& done, const Slot& next) const {
    if (done.kind != SlotKind::forward || next.kind != SlotKind::backward || stage_.has_head()) return false;
    return turns_[next.micro_batch].backward < turns_[done.micro_batch].forward;
}

void StageWriter::hand_over(const Slot* done, const Slot* next) {
    const Calls send = done != nullptr ? sends(*done) : Calls{};
    const Calls receive = next != nullptr ? receives(*next) : Calls{};
    const bool turns = done != nullptr && next != nullptr && done->kind != next->kind;
    if (turns && job_.framework->handover == Handover::paired) {
        const ActionId start = script_.now();
        std::vector<ActionId> under_way;
        for (const Call& call : send) under_way.push_back(script_.issue(call, {done->micro_batch, 0}, start));
        for (const Call& call : receive) under_way.push_back(script_.issue(call, {next->micro_batch, 0}, start));
        for (const ActionId issued : under_way) script_.wait(issued);
    } else if (turns && receives_first(*done, *next)) {
        blocking(receive, *next);
        blocking(send, *done);
    } else {
        if (done != nullptr) blocking(send, *done);
        if (next != nullptr) blocking(receive, *next);
    }
}

// Complete on the last slot that finishes weights' gradients of its chunk.
Accumulation StageWriter::accumulation(const Slot& slot) const {
    return &slot == last_[slot.chunk] ? Accumulation::complete : Accumulation::continues;
}

void StageWriter::run(const Slot& slot) {
    switch (slot.kind) {
        case SlotKind::forward:
            return passes_.forward(slot);
        case SlotKind::backward:
            return passes_.backward(slot, Halves::both, accumulation(slot));
        case SlotKind::input_backward:
            return passes_.backward(slot, Halves::input, Accumulation::continues);
        case SlotKind::weight_backward:
            return passes_.backward(slot, Halves::weight, accumulation(slot));
    }
}

void StageWriter::blocking_slots() {
    const Slot* done = nullptr;
    for (const Slot& slot : stage_.slots) {
        hand_over(done, &slot);
        if (job_.layout.pipeline > 1) passes_.host().synchronise();  // Megatron's _communicate does after each
        run(slot);
        done = &slot;
    }
    hand_over(done, nullptr);
}

// Receives are posted as early as their lane allows; a send follows its slot, and the next slot does not wait for it.
void StageWriter::slots_beside() {
    std::vector<ActionId> sent;
    for (const Slot& slot : stage_.slots) {
        for (const Call& call : receives(slot)) {
            script_.wait(script_.issue(call, {slot.micro_batch, 0}, Action::none));
        }
        run(slot);
        for (const Call& call : sends(slot)) {
            sent.push_back(script_.issue(call, {slot.micro_batch, 0}, script_.now()));
        }
    }
    for (const ActionId issued : sent) script_.wait(issued);
}

// Megatron's interleaving without overlap_p2p_communication (core/pipeline_parallel/schedules.py).
bool StageWriter::hands_over_in_batches() const {
    const bool interleaves = job_.schedule->chunks == 0;
    return interleaves && job_.framework->overlaps_pipeline(job_) == Setting::off;
}

// Slots with nothing exchanged between them: a forward with the backward that follows it, but for the forward that ends
// a warm-up of all micro-batches, whose output the next stage needs first.
std::size_t StageWriter::end_of_unit(std::size_t first) const {
    const std::vector<Slot>& slots = stage_.slots;
    const bool turns = first + 1 < slots.size() && slots[first].kind == SlotKind::forward &&
                       slots[first + 1].kind != SlotKind::forward;
    const bool all_warm_up = turns && 2 * (first + 1) == slots.size();
    return first + (turns && !all_warm_up ? 2 : 1);
}

// One batch of sends and receives, awaited together.
void StageWriter::exchange(std::span<const Slot> done, std::span<const Slot> next) {
    const ActionId start = script_.now();
    std::vector<ActionId> under_way;
    for (const Slot& slot : done) {
        for (const Call& call : sends(slot)) under_way.push_back(script_.issue(call, {slot.micro_batch, 0}, start));
    }
    for (const Slot& slot : next) {
        for (const Call& call : receives(slot)) under_way.push_back(script_.issue(call, {slot.micro_batch, 0}, start));
    }
    for (const ActionId issued : under_way) script_.wait(issued);
    passes_.host().synchronise();
}

void StageWriter::batched_slots() {
    const std::span<const Slot> slots = stage_.slots;
    std::size_t first = 0, end = end_of_unit(0);
    exchange({}, slots.subspan(0, end));
    while (first < slots.size()) {
        for (const Slot& slot : slots.subspan(first, end - first)) run(slot);
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
// under sequence parallelism norms, routers and row-parallel biases, whose tensor ranks saw different tokens.
void StageWriter::reduce_shared_gradients() {
    const double bytes = job_.framework->gradient_bytes(job_);
    const std::string_view type = bytes == 4.0 ? "fp32" : element_name(job_);
    if (job_.sequence_parallel == SequenceParallel::on && job_.layout.tensor > 1) {
        double elements = 0;
        for (const StageModule& module : stage_.modules) elements += sequence_parallel_elements(module);
        script_.call({.op = Collective::all_reduce,
                      .group = GroupKind::tensor,
                      .message = {elements * bytes},
                      .label = "all-reduce norm gradients",
                      .type = type},
                     {});
    }
}

void StageWriter::finish() {
    const Framework& framework = *job_.framework;
    if (job_.schedule->copies > 1) {
        const double bytes = framework.gradient_bytes(job_);
        script_.call({.op = Collective::all_reduce,
                      .group = GroupKind::mirror,
                      .message = {stage_.parameters() * bytes},
                      .label = "all-reduce mirrored gradients",
                      .type = bytes == 4.0 ? "fp32" : element_name(job_)},
                     {});
    }
    data_parallel_->finish_gradients(script_);
    reduce_shared_gradients();
    data_parallel_->before_optimizer(script_);
    script_.compute("optimizer", stage_.optimizer, {});
    data_parallel_->after_optimizer(script_);
    step_calls(framework.step_end(job_, index_));
}

}  // namespace

Script step_script(const Plan& plan, std::uint32_t stage, StepKind kind) {
    return StageWriter(plan, stage, kind).step();
}

Script start_up_script(const Plan& plan, std::uint32_t stage) {
    return StageWriter(plan, stage, StepKind::first).start_up();
}

}  // namespace weft
