#include "workloads/search/screening.hpp"

#include <algorithm>

#include "sim/base/check.hpp"

namespace weft {

double PartTimes::of(SlotKind kind) const {
    switch (kind) {
        case SlotKind::forward:
            return forward;
        case SlotKind::backward:
            return backward;
        case SlotKind::input_backward:
            return input_backward;
        case SlotKind::weight_backward:
            return weight_backward;
    }
    throw LogicError("a SlotKind outside its enumerators");
}

// Numbers the slots, links each to what it needs, and lines them up.
class SlotOrderer {
  public:
    SlotOrderer(const Schedule& schedule, const PipelineShape& shape, SlotOrder& order)
        : schedule_(schedule), shape_(shape), order_(order), slots_(order.slots_) {}

    void order() {
        number();
        link();
        done_.assign(slots_.size(), 0);
        away_.assign(slots_.size(), 0);
        std::vector<std::uint32_t> next = first_;
        std::size_t left = slots_.size();
        while (left > 0) {
            const std::size_t before = left, steps = order_.steps_.size();
            for (std::uint32_t stage = 0; stage < shape_.stages; ++stage) {
                while (next[stage] < first_[stage + 1] && run(next[stage])) {
                    ++next[stage];
                    --left;
                }
            }
            WEFT_CHECK(left < before || order_.steps_.size() > steps, "the slots of a schedule wait for one another");
        }
    }

  private:
    void number() {
        for (std::uint32_t stage = 0; stage < shape_.stages; ++stage) {
            first_.push_back(static_cast<std::uint32_t>(slots_.size()));
            const SlotKind none_yet = SlotKind::forward;
            SlotKind before = none_yet;
            for (const Slot& slot : schedule_.slots(shape_, stage)) {
                const bool turns =
                    slots_.size() > first_.back() && (before == SlotKind::forward) != (slot.kind == SlotKind::forward);
                slots_.push_back({.stage = stage, .chunk = slot.chunk, .kind = slot.kind, .turns = turns});
                const auto number = static_cast<std::uint32_t>(slots_.size() - 1);
                if (slot.runs == Slot::Runs::with_next) slots_.back().other = number + 1;
                if (turns && slots_[number - 1].other == number) slots_.back().other = number - 1;
                micro_batch_.push_back(slot.micro_batch);
                before = slot.kind;
            }
        }
        first_.push_back(static_cast<std::uint32_t>(slots_.size()));
    }

    void link() {
        const std::size_t places = std::size_t{shape_.stages} * shape_.chunks;
        // By micro-batch, then place.
        std::vector<std::uint32_t> forward(places * shape_.micro_batches, SlotOrder::none), backward = forward;
        const auto at = [&](std::uint32_t micro_batch, const Place& place) {
            return micro_batch * places + std::size_t{place.stage} * shape_.chunks + place.chunk;
        };
        for (std::uint32_t i = 0; i < slots_.size(); ++i) {
            if (slots_[i].kind == SlotKind::weight_backward) continue;
            (slots_[i].kind == SlotKind::forward ? forward
                                                 : backward)[at(micro_batch_[i], {slots_[i].stage, slots_[i].chunk})] =
                i;
        }
        for (std::uint32_t m = 0; m < shape_.micro_batches; ++m) {
            const std::vector<Place> path = schedule_.path(shape_, m);
            for (std::size_t part = 1; part < path.size(); ++part) {
                connect(forward[at(m, path[part - 1])], forward[at(m, path[part])]);
                connect(backward[at(m, path[part])], backward[at(m, path[part - 1])]);
            }
        }
    }

    void connect(std::uint32_t giver, std::uint32_t taker) {
        slots_[giver].feeds = taker;
        slots_[taker].needs = giver;
        slots_[giver].sends = slots_[taker].receives = slots_[giver].stage != slots_[taker].stage;
    }

    bool run(std::uint32_t slot) {
        const SlotOrder::Numbered& own = slots_[slot];
        if (order_.handover_ == Schedule::Handover::beside) {
            if (own.needs != SlotOrder::none && !done_[own.needs]) return false;
            const bool begins_both = own.other != SlotOrder::none && own.kind == SlotKind::forward;
            const std::uint32_t others = begins_both ? slots_[own.other].needs : SlotOrder::none;
            if (others != SlotOrder::none && !done_[others]) return false;
        } else {
            // Both: in a turn each may be what the other side waits for.
            const bool sent = order_.is_first(slot) || !slots_[slot - 1].sends || send(slot - 1);
            const bool received = !own.receives || send(own.needs);
            if (!sent || !received) return false;
            if (own.needs != SlotOrder::none && !own.receives && !done_[own.needs]) return false;
        }
        order_.steps_.push_back({slot, SlotOrder::Step::runs});
        done_[slot] = 1;
        return true;
    }

    // Whether the output of `slot` is away by now.
    bool send(std::uint32_t slot) {
        if (away_[slot]) return true;
        const std::uint32_t taker = slots_[slot].feeds;
        if (!done_[slot]) return false;
        if (!order_.is_first(taker)) {
            const std::uint32_t before = taker - 1;
            if (!done_[before]) return false;
            if (!slots_[taker].turns && slots_[before].sends && !away_[before] && !send(before)) return false;
        }
        order_.steps_.push_back({slot, SlotOrder::Step::travels});
        away_[slot] = 1;
        return true;
    }

    const Schedule& schedule_;
    const PipelineShape& shape_;
    SlotOrder& order_;
    std::vector<SlotOrder::Numbered>& slots_;
    std::vector<std::uint32_t> first_;        // slot of each stage, and the end of the last
    std::vector<std::uint32_t> micro_batch_;  // of each slot
    std::vector<char> done_, away_;
};

SlotOrder::SlotOrder(const Schedule& schedule, const PipelineShape& shape)
    : handover_(schedule.handover), stages_(shape.stages) {
    const std::string obstacle = schedule.obstacle(shape);
    WEFT_CHECK(obstacle.empty(), obstacle);
    SlotOrderer(schedule, shape, *this).order();
}

double SlotOrder::duration(const Numbered& slot, const PipelineTimes& times) const {
    const std::size_t part = std::size_t{slot.stage} * times.chunks + slot.chunk;
    if (slot.other == none) return times.parts[part].of(slot.kind);
    return slot.kind == SlotKind::forward ? times.joint[part * times.chunks + slots_[slot.other].chunk] : 0.0;
}

std::vector<double> SlotOrder::ends(const PipelineTimes& times) const {
    std::vector<double> clock(stages_, 0.0), done(slots_.size(), 0.0), away(slots_.size(), 0.0);
    const auto crossing = [&](const Numbered& slot) {
        return (slot.kind == SlotKind::forward ? times.forward_crossing : times.backward_crossing)[slot.stage];
    };
    const bool blocking = handover_ == Schedule::Handover::blocking;
    for (const Step& step : steps_) {
        const Numbered& slot = slots_[step.slot];
        if (step.what == Step::travels) {
            double ready = done[step.slot];
            const std::uint32_t taker = slot.feeds;
            if (!is_first(taker)) {
                ready = std::max(ready, done[taker - 1]);
                if (!slots_[taker].turns && slots_[taker - 1].sends) ready = std::max(ready, away[taker - 1]);
            }
            away[step.slot] = ready + crossing(slot);
            continue;
        }
        double start = clock[slot.stage];
        if (blocking) {
            if (!is_first(step.slot) && slots_[step.slot - 1].sends) start = std::max(start, away[step.slot - 1]);
            if (slot.receives) start = std::max(start, away[slot.needs]);
        } else {
            const auto take = [&](const Numbered& taker) {
                if (taker.receives) start = std::max(start, done[taker.needs] + crossing(slots_[taker.needs]));
            };
            take(slot);
            if (slot.other != none && slot.kind == SlotKind::forward) take(slots_[slot.other]);
        }
        done[step.slot] = start + duration(slot, times);
        clock[slot.stage] = done[step.slot];
    }
    return clock;
}

double SlotOrder::busiest(const PipelineTimes& times) const {
    std::vector<double> work(stages_, 0.0);
    for (const Numbered& slot : slots_) {
        work[slot.stage] += duration(slot, times);
    }
    return *std::ranges::max_element(work);
}

PipelineClock::PipelineClock(const Schedule& schedule, const PipelineShape& shape) {
    PipelineShape shorter = shape, longer = shape;
    shorter.micro_batches = 3 * shape.stages + shape.micro_batches % shape.stages;
    longer.micro_batches = shorter.micro_batches + shape.stages;
    const bool is_long = std::uint64_t{shape.stages} * shape.micro_batches * shape.chunks > most_lined_up;
    const bool settles = is_long && longer.micro_batches < shape.micro_batches && schedule.obstacle(shorter).empty() &&
                         schedule.obstacle(longer).empty();
    if (!settles) {
        orders_.emplace_back(schedule, shape);
        return;
    }
    orders_.emplace_back(schedule, shorter);
    orders_.emplace_back(schedule, longer);
    periods_ = double(shape.micro_batches - shorter.micro_batches) / shape.stages;
}

std::vector<double> PipelineClock::ends(const PipelineTimes& times) const {
    std::vector<double> ends = orders_.front().ends(times);
    if (orders_.size() == 1) return ends;
    const std::vector<double> longer = orders_.back().ends(times);
    const double busiest = orders_.back().busiest(times) - orders_.front().busiest(times);
    for (std::size_t stage = 0; stage < ends.size(); ++stage) {
        ends[stage] += std::max(longer[stage] - ends[stage], busiest) * periods_;
    }
    return ends;
}

}  // namespace weft
