#include "tools/page/result_data.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "sim/base/check.hpp"
#include "tools/page/telling_keys.hpp"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;
using ResultRow = std::vector<ResultCell>;

std::string_view text(ColumnKind kind) {
    return kind == ColumnKind::key ? "key" : kind == ColumnKind::metric ? "metric" : "note";
}

Json json_of(const ResultCell& cell) {
    return std::visit(
        [](const auto& value) {
            if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
                return Json();
            } else {
                return Json(value);
            }
        },
        cell);
}

}  // namespace

std::optional<double> number_of(const ResultCell& cell) {
    std::optional<double> number;
    if (const auto* const whole = std::get_if<std::int64_t>(&cell)) number = static_cast<double>(*whole);
    if (const auto* const real = std::get_if<double>(&cell)) number = *real;
    return number && std::isfinite(*number) ? number : std::nullopt;
}

Json result_json(const ResultTable& table) {
    Json json{{"columns", Json::array()}, {"values", Json::array()}};
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        const Column& column = table.columns[c];
        json["columns"].push_back(
            {{"name", column.name}, {"unit", column.unit}, {"meaning", column.meaning}, {"kind", text(column.kind)}});
        Json values = Json::array();
        for (const ResultRow& row : table.rows) {
            WEFT_CHECK(row.size() == table.columns.size(), "a row has other cells than columns");
            values.push_back(json_of(row[c]));
        }
        json["values"].push_back(std::move(values));
    }
    const std::vector<std::size_t> telling = telling_keys(table);
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        if (table.columns[c].kind != ColumnKind::key) continue;
        json["columns"][c]["tells"] = std::ranges::find(telling, c) != telling.end();
    }
    return json;
}

std::string result_data(const ResultTable& table) { return data_text(result_json(table)); }

std::string data_text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::optional<std::size_t> find_column(const ResultTable& table, std::string_view name) {
    const auto column = std::ranges::find(table.columns, name, &Column::name);
    if (column == table.columns.end()) return std::nullopt;
    return static_cast<std::size_t>(column - table.columns.begin());
}

std::optional<ExtremeRow> extreme_row(const ResultTable& table, std::string_view column, Extreme extreme) {
    const std::optional<std::size_t> at = find_column(table, column);
    std::optional<ExtremeRow> best;
    for (std::size_t row = 0; at && row < table.rows.size(); ++row) {
        const std::optional<double> value = number_of(table.rows[row][*at]);
        if (!value) continue;
        if (!best || (extreme == Extreme::least ? *value < best->value : *value > best->value)) {
            best = ExtremeRow{row, *value};
        }
    }
    return best;
}

std::size_t rows_with_result(const ResultTable& table) {
    return static_cast<std::size_t>(std::ranges::count_if(table.rows, [&](const ResultRow& row) {
        for (std::size_t c = 0; c < row.size(); ++c) {
            if (table.columns[c].kind == ColumnKind::metric && number_of(row[c])) return true;
        }
        return false;
    }));
}

std::string keys_text(const ResultTable& table, std::span<const std::size_t> keys, std::size_t row) {
    std::string out;
    for (const std::size_t key : keys) {
        const ResultCell& cell = table.rows[row][key];
        if (std::holds_alternative<std::monostate>(cell)) continue;
        const auto* const bare = std::get_if<std::string>(&cell);
        out += (out.empty() ? "" : ", ") + table.columns[key].name + ' ' + (bare ? *bare : json_of(cell).dump());
    }
    return out;
}

}  // namespace weft
