// Runs the slots of all stages, strictly in order on each, with free communication: an oracle apart from the engine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "workloads/schedule/schedule.hpp"

namespace weft {

// Time of each kind of slot on one model part, in ticks.
struct SlotTimes {
    std::int64_t forward = 1, input = 1, weight = 1;

    std::int64_t of(SlotKind kind) const {
        switch (kind) {
            case SlotKind::forward:
                return forward;
            case SlotKind::backward:
                return input + weight;
            case SlotKind::input_backward:
                return input;
            case SlotKind::weight_backward:
                return weight;
        }
        return 0;
    }
};

// Slots that begin together and end together; their times add up.
using SlotGroup = std::vector<Slot>;

inline std::vector<SlotGroup> cells_of(const std::vector<Slot>& slots) {
    std::vector<SlotGroup> cells;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (i > 0 && slots[i - 1].runs == Slot::Runs::with_next) {
            cells.back().push_back(slots[i]);
        } else {
            cells.push_back({slots[i]});
        }
    }
    return cells;
}

struct Execution {
    bool finished = false;
    std::int64_t end = 0;                  // of the last slot of all
    std::vector<std::int64_t> busy, wait;  // by stage; waiting between the stage's own first slot and its last

    // Idle time of the stage that works most, from the first slot of all to the last.
    std::int64_t bubble() const { return end - *std::ranges::max_element(busy); }
    std::int64_t longest_wait() const { return *std::ranges::max_element(wait); }
};

// Time of a slot on a stage, in ticks.
using SlotClock = std::function<std::int64_t(std::uint32_t stage, const Slot& slot)>;

class Executor {
  public:
    Executor(const Schedule& schedule, const PipelineShape& shape, SlotTimes times)
        : Executor(schedule, shape, [times](std::uint32_t, const Slot& slot) { return times.of(slot.kind); }) {}
    Executor(const Schedule& schedule, const PipelineShape& shape, SlotClock times)
        : shape_(shape), times_(std::move(times)), chunks_(std::max(1U, shape.chunks)) {
        for (std::uint32_t m = 0; m < shape.micro_batches; ++m) paths_.push_back(schedule.path(shape, m));
        const std::size_t places = std::size_t{shape.stages} * chunks_ * shape.micro_batches;
        forward_.assign(places, unknown);
        input_ = forward_;
        part_.assign(places, 0);
        for (std::uint32_t m = 0; m < shape.micro_batches; ++m) {
            for (std::size_t i = 0; i < paths_[m].size(); ++i) part_[at(paths_[m][i], m)] = i;
        }
    }

    Execution run(const std::vector<std::vector<SlotGroup>>& cells) {
        Execution result{.finished = true, .busy = {}, .wait = {}};
        std::vector<std::size_t> done(shape_.stages, 0);
        std::vector<std::int64_t> clock(shape_.stages, 0), first(shape_.stages, unknown);
        result.busy.assign(shape_.stages, 0);
        for (bool progress = true; progress;) {
            progress = false;
            for (std::uint32_t s = 0; s < shape_.stages; ++s) {
                for (; done[s] < cells[s].size(); ++done[s], progress = true) {
                    const SlotGroup& cell = cells[s][done[s]];
                    const std::int64_t ready = ready_at(cell, s);
                    if (ready == unknown) break;
                    const std::int64_t begin = std::max(clock[s], ready);
                    if (first[s] == unknown) first[s] = begin;
                    clock[s] = begin + time(s, cell);
                    result.busy[s] += time(s, cell);
                    for (const Slot& slot : cell) finish(slot, s, clock[s]);
                }
            }
        }
        for (std::uint32_t s = 0; s < shape_.stages; ++s) {
            result.finished = result.finished && done[s] == cells[s].size();
            result.end = std::max(result.end, clock[s]);
            result.wait.push_back(clock[s] - first[s] - result.busy[s]);
        }
        return result;
    }

  private:
    static constexpr std::int64_t unknown = -1;

    std::size_t at(Place place, std::uint32_t micro_batch) const {
        return (std::size_t{place.stage} * chunks_ + place.chunk) * shape_.micro_batches + micro_batch;
    }
    std::int64_t time(std::uint32_t stage, const SlotGroup& cell) const {
        std::int64_t sum = 0;
        for (const Slot& slot : cell) sum += times_(stage, slot);
        return sum;
    }
    // When everything that the cell needs is there; unknown if part of it has not run.
    std::int64_t ready_at(const SlotGroup& cell, std::uint32_t stage) const {
        std::int64_t ready = 0;
        for (const Slot& slot : cell) {
            const std::int64_t one = ready_at(slot, {stage, slot.chunk});
            if (one == unknown) return unknown;
            ready = std::max(ready, one);
        }
        return ready;
    }
    std::int64_t ready_at(const Slot& slot, Place place) const {
        const std::vector<Place>& path = paths_[slot.micro_batch];
        const std::size_t here = at(place, slot.micro_batch), part = part_[here];
        if (slot.kind == SlotKind::weight_backward) return input_[here];
        if (slot.kind == SlotKind::forward) return part == 0 ? 0 : forward_[at(path[part - 1], slot.micro_batch)];
        if (forward_[here] == unknown) return unknown;
        return part + 1 == path.size() ? forward_[here] : input_[at(path[part + 1], slot.micro_batch)];
    }
    void finish(const Slot& slot, std::uint32_t stage, std::int64_t now) {
        const std::size_t here = at({stage, slot.chunk}, slot.micro_batch);
        if (slot.kind == SlotKind::forward) forward_[here] = now;
        if (slot.kind == SlotKind::backward || slot.kind == SlotKind::input_backward) input_[here] = now;
    }

    PipelineShape shape_;
    SlotClock times_;
    std::uint32_t chunks_;
    std::vector<std::vector<Place>> paths_;      // by micro-batch
    std::vector<std::int64_t> forward_, input_;  // when a place is done with a micro-batch
    std::vector<std::size_t> part_;              // a place's position on the micro-batch's path
};

template <class Times>  // SlotTimes or a SlotClock
Execution execute(const Schedule& schedule, const PipelineShape& shape, Times times) {
    std::vector<std::vector<SlotGroup>> cells;
    for (std::uint32_t s = 0; s < shape.stages; ++s) cells.push_back(cells_of(schedule.slots(shape, s)));
    return Executor(schedule, shape, times).run(cells);
}

}  // namespace weft
