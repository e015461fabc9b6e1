// What a StageWriter sends and receives around its slots, and in which order.

#include "sim/base/check.hpp"
#include "workloads/framework/framework.hpp"
#include "workloads/stage/stage_script.hpp"

namespace weft {

// What crosses the boundary before or after a slot. A port is one model part's crossing in one direction: both sides
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

}  // namespace weft
