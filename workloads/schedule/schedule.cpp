#include "workloads/schedule/schedule.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "sim/base/lists.hpp"

namespace weft {

std::vector<std::string_view> missing(const ScheduleNeeds& needs, const ScheduleNeeds& offers) {
    std::vector<std::string_view> words;
    for (const auto& [need, word] : {std::pair{&ScheduleNeeds::forwards_ahead, "several forwards before a backward"},
                                     {&ScheduleNeeds::weights_apart, "weights' gradients apart from the activations'"},
                                     {&ScheduleNeeds::several_parts, "several model parts per stage"},
                                     {&ScheduleNeeds::both_directions, "micro-batches in both directions"}}) {
        if (needs.*need && !(offers.*need)) words.emplace_back(word);
    }
    return words;
}

const Schedule* find_schedule(std::string_view key) {
    return first_of(schedule::all(), [&](const Schedule* each) { return each->key == key; });
}

std::vector<std::string> schedule_keys() {
    return list_of<std::string>(schedule::all(), [&](const Schedule* s) { return s->key; });
}

std::string no_obstacle(const PipelineShape&) { return {}; }

std::vector<Place> straight_path(const PipelineShape& shape, std::uint32_t) {
    return list_of<Place>(numbers_below<std::uint32_t>(shape.stages), [](std::uint32_t s) { return Place{s, 0}; });
}

namespace {

bool same_place(const Moment& a, const Moment& b) {
    return a.kind == b.kind && a.chunk == b.chunk && a.ahead == b.ahead;
}

bool covers(const Moment& more, const Moment& less) {
    return same_place(more, less) && std::ranges::equal(more.alive, less.alive, std::ranges::greater_equal{});
}

}  // namespace

std::vector<Moment> fullest_moments(std::span<const Slot> slots, std::size_t chunks) {
    std::vector<Moment> kept;
    std::set<Moment> seen;  // steady phases pass through the same moments again and again
    const auto add = [&](const Moment& moment) {
        if (!seen.insert(moment).second) return;
        if (std::ranges::any_of(kept, [&](const Moment& other) { return covers(other, moment); })) return;
        std::erase_if(kept, [&](const Moment& other) { return covers(moment, other); });
        kept.push_back(moment);
    };
    Moment now{.kind = SlotKind::forward, .chunk = 0, .alive = std::vector<std::uint32_t>(chunks)};
    const auto done_forward = [&](std::size_t next) {
        if (next < slots.size() && slots[next].kind == SlotKind::forward && slots[next].runs == Slot::Runs::alone) {
            return;  // that one will have more alive
        }
        now.kind = SlotKind::forward;
        now.chunk = 0;
        now.ahead.reset();
        add(now);
    };
    for (std::size_t i = 0; i < slots.size(); ++i) {
        const Slot& slot = slots[i];
        if (slot.kind == SlotKind::forward && slot.runs == Slot::Runs::with_next) continue;
        if (slot.kind == SlotKind::forward) {
            ++now.alive[slot.chunk];
            done_forward(i + 1);
            continue;
        }
        const bool joint = i > 0 && slots[i - 1].runs == Slot::Runs::with_next;
        if (slot.kind != SlotKind::weight_backward) {
            now.kind = SlotKind::backward;
            now.chunk = slot.chunk;
            now.ahead.reset();
            if (joint) now.ahead = slots[i - 1].chunk;
            add(now);
        }
        if (slot.kind != SlotKind::input_backward) --now.alive[slot.chunk];
        if (!joint) continue;
        ++now.alive[slots[i - 1].chunk];
        done_forward(i + 1);
    }
    return kept;
}

}  // namespace weft
