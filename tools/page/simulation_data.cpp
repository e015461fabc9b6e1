#include "tools/page/result_data.hpp"
#include "tools/page/simulation_page.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>
#include <utility>

#include "tools/output/explanation_text.hpp"

namespace weft {
namespace {

Json memory_json(const Simulation& run, const TimelinePart& part) {
    Json series = json_list<Json>(part.classes, [&](RankClassId id) {
        std::vector<std::int64_t> at, bytes;
        for (const MemoryPoint& point : memory_timeline(run, id)) {
            at.push_back(nanoseconds(point.at));
            bytes.push_back(std::llround(point.in_use.value));
        }
        return Json{{"name", fmt::format("stage {}", run.step.stage[id])}, {"at", at}, {"bytes", bytes}};
    });
    return {{"capacity", std::llround(run.plan.device.memory.value)}, {"series", std::move(series)}};
}

// Only pairs that exchange something: row, column, bytes, one after another.
Json partners_json(const Partners& partners) {
    const Json dimensions = json_list<Json>(partners.dimensions, [&](const PartnerBytes& dimension) {
        std::vector<std::int64_t> pairs;
        for (std::size_t i = 0; i < dimension.bytes.size(); ++i) {
            if (dimension.bytes[i] <= 0.0) continue;
            pairs.push_back(static_cast<std::int64_t>(i / partners.cells));
            pairs.push_back(static_cast<std::int64_t>(i % partners.cells));
            pairs.push_back(std::llround(dimension.bytes[i]));
        }
        return Json{{"name", dimension.dimension}, {"pairs", std::move(pairs)}};
    });
    return {{"cells", partners.cells}, {"ranks_per_cell", partners.ranks_per_cell}, {"dimensions", dimensions}};
}

// Cells as a list for each column, in order; those of the other direction only where there are any.
Json matrix_json(const MapMatrix& matrix) {
    Json json{{"title", matrix.what.title}};
    const auto side_json = [](const std::string& label, const MapSide& side) {
        return Json{{"label", label}, {"names", side.names}, {"per_cell", side.per_cell}};
    };
    json["rows"] = side_json(matrix.what.row, matrix.rows);
    json["columns"] = side_json(matrix.what.column, matrix.columns);
    json["ways"] = Json::array();
    for (const MapCell& cell : matrix.cells) {
        json["row"].push_back(cell.row);
        json["column"].push_back(cell.column);
    }
    const auto add_direction = [&](const std::string& name, CellTraffic MapCell::*direction) {
        Json own{{"name", name}};
        for (const MapCell& cell : matrix.cells) {
            own["busiest"].push_back(std::round((cell.*direction).busiest * 1e6) / 1e6);
            own["bytes"].push_back(std::llround((cell.*direction).bytes.value));
            own["links"].push_back((cell.*direction).links);
        }
        json["ways"].push_back(std::move(own));
    };
    add_direction(matrix.what.to_column, &MapCell::to_column);
    if (!matrix.what.to_row.empty()) add_direction(matrix.what.to_row, &MapCell::to_row);
    return json;
}

// Of matrices in which nothing was carried the titles alone.
Json fabric_json(const Simulation& run) {
    Json matrices = Json::array(), idle = Json::array();
    for (const MapMatrix& matrix : fabric_map(run.topology(), link_traffic(run))) {
        if (matrix.cells.empty()) {
            idle.push_back(matrix.what.title);
        } else {
            matrices.push_back(matrix_json(matrix));
        }
    }
    return {{"matrices", std::move(matrices)}, {"idle", std::move(idle)}};
}

}  // namespace

std::string simulation_data(const Simulation& run, const TimelinePart& part, const Explanation& explanation) {
    return data_text({{"end", nanoseconds(run.timeline.end)},
                      {"timeline", timeline_data(run, part, explanation.path)},
                      {"memory", memory_json(run, part)},
                      {"partners", partners_json(partners(run))},
                      {"fabric", fabric_json(run)},
                      {"rooflines", rooflines_json(explanation.rooflines)}});
}

}  // namespace weft
