#include "tools/page/simulation_data.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "tools/output/trace_time.hpp"
#include "tools/page/partners.hpp"
#include "tools/page/timeline_data.hpp"
#include "workloads/report/memory_timeline.hpp"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

Json memory_json(const Simulation& run, const TimelinePart& part) {
    Json series = Json::array();
    for (const RankClassId id : part.classes) {
        std::vector<std::int64_t> at, bytes;
        for (const MemoryPoint& point : memory_timeline(run, id)) {
            at.push_back(nanoseconds(point.at));
            bytes.push_back(std::llround(point.in_use.value));
        }
        series.push_back({{"name", fmt::format("stage {}", run.step.stage[id])}, {"at", at}, {"bytes", bytes}});
    }
    return {{"capacity", std::llround(run.plan.device.memory.value)}, {"series", std::move(series)}};
}

// Only pairs that exchange something: row, column, bytes, one after another.
Json partners_json(const Partners& partners) {
    Json dimensions = Json::array();
    for (const PartnerBytes& dimension : partners.dimensions) {
        std::vector<std::int64_t> pairs;
        for (std::size_t i = 0; i < dimension.bytes.size(); ++i) {
            if (dimension.bytes[i] <= 0.0) continue;
            pairs.push_back(static_cast<std::int64_t>(i / partners.cells));
            pairs.push_back(static_cast<std::int64_t>(i % partners.cells));
            pairs.push_back(std::llround(dimension.bytes[i]));
        }
        dimensions.push_back({{"name", dimension.dimension}, {"pairs", std::move(pairs)}});
    }
    return {{"cells", partners.cells}, {"ranks_per_cell", partners.ranks_per_cell}, {"dimensions", dimensions}};
}

}  // namespace

std::string simulation_data(const Simulation& run, const TimelinePart& part, std::span<const PathPiece> path) {
    const Json json{{"end", nanoseconds(run.timeline.end)},
                    {"timeline", timeline_data(run, part, path)},
                    {"memory", memory_json(run, part)},
                    {"partners", partners_json(partners(run))}};
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace weft
