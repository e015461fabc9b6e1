#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/output/csv.hpp"
#include "tools/sweep/sweep.hpp"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

// "step.time_s" -> "step_time_s": keys already name their unit.
std::string column(std::string_view key) {
    std::string name(key);
    std::ranges::replace(name, '.', '_');
    return name;
}

const std::vector<Metric>& columns(const std::vector<SweepRow>& rows) {
    const auto it = std::ranges::find_if(rows, [](const SweepRow& row) { return !row.metrics.empty(); });
    static const std::vector<Metric> none;
    return it == rows.end() ? none : it->metrics;
}

// A varied value as JSON: a number where it reads as one.
Json point_value(const std::string& text) {
    const Json value = Json::parse(text, nullptr, false);
    return value.is_number() || value.is_boolean() ? value : Json(text);
}

}  // namespace

std::string sweep_csv(const SweepGrid& grid, const std::vector<SweepRow>& rows) {
    std::string out;
    for (const Variation& variation : grid.variations()) out += variation.key + ',';
    const std::vector<Metric>& metrics = columns(rows);
    for (const Metric& metric : metrics) out += column(metric.key) + ',';
    out += "reason\n";
    for (const SweepRow& row : rows) {
        for (const std::string& value : row.point) out += csv_cell(value) + ',';
        for (std::size_t i = 0; i < metrics.size(); ++i) {
            out += (row.metrics.empty() ? "" : value_of<Json>(row.metrics[i]).dump()) + ',';
        }
        out += csv_cell(row.reason) + '\n';
    }
    return out;
}

std::string sweep_json_lines(const SweepGrid& grid, const std::vector<SweepRow>& rows) {
    std::string out;
    for (const SweepRow& row : rows) {
        Json json;
        for (std::size_t i = 0; i < row.point.size(); ++i) json[grid.variations()[i].key] = point_value(row.point[i]);
        for (const Metric& metric : row.metrics) json[column(metric.key)] = value_of<Json>(metric);
        if (!row.reason.empty()) json["reason"] = row.reason;
        out += json.dump() + '\n';
    }
    return out;
}

}  // namespace weft
