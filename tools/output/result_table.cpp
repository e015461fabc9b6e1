#include "tools/output/result_table.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>
#include <type_traits>

#include "sim/base/check.hpp"
#include "tools/output/json_text.hpp"

namespace weft {

namespace {

using Json = nlohmann::json;

Json json_of(const ResultCell& cell) {
    return std::visit(
        [](const auto& value) -> Json {
            using Value = std::decay_t<decltype(value)>;
            if constexpr (std::is_same_v<Value, std::monostate>) return nullptr;
            if constexpr (std::is_same_v<Value, double>) WEFT_CHECK(std::isfinite(value), "a result is not finite");
            if constexpr (!std::is_same_v<Value, std::monostate>) return value;
        },
        cell);
}

}  // namespace

std::string cell_json(const ResultCell& cell) {
    return json_of(cell).dump(-1, ' ', false, Json::error_handler_t::replace);
}

ResultCell cell_of_json(std::string_view text) {
    const Json value = Json::parse(text, nullptr, false);
    if (value.is_null()) return {};
    if (value.is_boolean()) return value.get<bool>();
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()) {
        return value.get<double>();
    }
    if (value.is_number_integer()) return value.get<std::int64_t>();
    if (value.is_number()) return value.get<double>();
    if (value.is_string()) return value.get<std::string>();
    return std::string(text);
}

std::string cell_text(const ResultCell& cell) {
    if (const auto* text = std::get_if<std::string>(&cell)) return *text;
    return std::holds_alternative<std::monostate>(cell) ? "" : cell_json(cell);
}

std::string result_csv(const ResultTable& table) {
    std::string out;
    for (const Column& column : table.columns) {
        if (&column != &table.columns.front()) out += ',';
        out += csv_cell(column.name);
    }
    out += '\n';
    for (const std::vector<ResultCell>& row : table.rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (i > 0) out += ',';
            out += csv_cell(cell_text(row[i]));
        }
        out += '\n';
    }
    return out;
}

std::string result_json_lines(const ResultTable& table) {
    std::vector<std::string> keys;
    for (const Column& column : table.columns) keys.push_back(cell_json(column.name) + ':');
    std::string out;
    for (const std::vector<ResultCell>& row : table.rows) {
        out += fmt::format("{{\"schema\":{}", output_schema);
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (std::holds_alternative<std::monostate>(row[i])) continue;
            out += ',' + keys[i] + cell_json(row[i]);
        }
        out += "}\n";
    }
    return out;
}

static bool is_formula(std::string_view text) {
    if (text.size() < 2 || std::string_view("=+-@\t\r").find(text.front()) == std::string_view::npos) return false;
    double number = 0.0;
    const char* const begin = text.data() + (text.front() == '+' ? 1 : 0);
    const auto [end, error] = std::from_chars(begin, text.data() + text.size(), number);
    return error == std::errc::invalid_argument || end != text.data() + text.size();
}

std::string csv_cell(std::string_view text) {
    const std::string safe = (is_formula(text) ? "'" : "") + std::string(text);
    if (safe.find_first_of(",\"\r\n") == std::string::npos) return safe;
    std::string out = "\"";
    for (const char c : safe) {
        if (c == '"') out += '"';
        out += c;
    }
    return out + '"';
}

}  // namespace weft
