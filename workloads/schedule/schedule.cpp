#include "workloads/schedule/schedule.hpp"

#include <algorithm>
#include <utility>

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
    const auto all = schedule::all();
    const auto it = std::ranges::find(all, key, [](const Schedule* s) { return s->key; });
    return it == all.end() ? nullptr : *it;
}

std::vector<std::string> schedule_keys() {
    std::vector<std::string> keys;
    for (const Schedule* s : schedule::all()) keys.emplace_back(s->key);
    return keys;
}

std::string no_obstacle(const PipelineShape&) { return {}; }

std::vector<Place> straight_path(const PipelineShape& shape, std::uint32_t) {
    std::vector<Place> path;
    for (std::uint32_t s = 0; s < shape.stages; ++s) path.push_back({s, 0});
    return path;
}

}  // namespace weft
