#include "tools/page/timeline_lane.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace weft {

using Json = nlohmann::ordered_json;

void TimelineLane::add(std::int64_t from, std::int64_t to, std::int64_t what, std::int64_t of_call) {
    from = std::max(from, end);
    to = std::max(from, to);
    gap.push_back(from - std::exchange(end, to));
    length.push_back(to - from);
    label.push_back(what);
    call.push_back(of_call);
}

Json TimelineLane::json() const {
    Json json{{"name", name}, {"dimension", dimension}, {"gap", gap}, {"length", length}, {"label", label}};
    if (!micro.empty()) json["micro"] = micro;
    if (!layer.empty()) json["layer"] = layer;
    if (std::ranges::all_of(call, [](std::int64_t each) { return each < 0; })) return json;
    json["call"] = call;
    if (!wait.empty()) json["wait"] = wait;
    return json;
}

TimelineLane& free_lane(std::vector<TimelineLane>& lanes, const std::string& name, std::int64_t from) {
    const auto free = std::ranges::find_if(lanes, [&](const TimelineLane& lane) {
        return lane.name == name && lane.end <= std::max<std::int64_t>(from, 0);
    });
    return free != lanes.end() ? *free : lanes.emplace_back(TimelineLane{.name = name});
}

std::int64_t NumberedValues::number_of(const Json& value) {
    const std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    return numbers_.try_emplace(text, static_cast<std::int64_t>(numbers_.size())).first->second;
}

Json NumberedValues::list() const {
    std::vector<Json> values(numbers_.size());
    for (const auto& [text, number] : numbers_) values[static_cast<std::size_t>(number)] = Json::parse(text);
    return values;
}

}  // namespace weft
