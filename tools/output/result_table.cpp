#include "tools/output/result_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <charconv>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>
#include <type_traits>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/base/lists.hpp"

namespace weft {
namespace {

// The header line, then the rows, of the columns that `has` names and with numbers as `text` has them.
std::string csv(const ResultTable& table, const std::function<bool(const Column&)>& has,
                std::string (*text)(const ResultCell&)) {
    const auto columns = list_of_those<std::size_t>(numbers_below<std::size_t>(table.columns.size()),
                                                    [&](std::size_t i) { return has(table.columns[i]); });
    std::string out;
    const auto line = [&](auto cell) {
        for (const std::size_t i : columns) out += (i == columns.front() ? "" : ",") + csv_cell(cell(i));
        out += '\n';
    };
    line([&](std::size_t i) { return table.columns[i].name; });
    for (const std::vector<ResultCell>& row : table.rows) line([&](std::size_t i) { return text(row[i]); });
    return out;
}

// Whole numbers without a point.
std::string digits(const ResultCell& cell) {
    const auto* const number = std::get_if<double>(&cell);
    return number ? number_text(*number) : cell_text(cell);
}

bool is_formula(std::string_view text) {
    if (text.size() < 2 || std::string_view("=+-@\t\r").find(text.front()) == std::string_view::npos) return false;
    double number = 0.0;
    const char* const begin = text.data() + (text.front() == '+' ? 1 : 0);
    const auto [end, error] = std::from_chars(begin, text.data() + text.size(), number);
    return error == std::errc::invalid_argument || end != text.data() + text.size();
}

}  // namespace

double cell_number(const ResultCell& cell) {
    if (const auto* const whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
    const auto* const real = std::get_if<double>(&cell);
    return real ? *real : std::numeric_limits<double>::quiet_NaN();
}

bool has_result(const ResultTable& table, const std::vector<ResultCell>& row) {
    for (std::size_t i = 0; i < row.size(); ++i) {
        if (table.columns[i].kind == ColumnKind::metric && !std::holds_alternative<std::monostate>(row[i])) return true;
    }
    return false;
}

ResultCell whole_cell(const ResultCell& cell) {
    const auto* const number = std::get_if<double>(&cell);
    return number && prints_as_integer(*number) ? ResultCell{static_cast<std::int64_t>(*number)} : cell;
}

Json cell_value(const ResultCell& cell) {
    return std::visit(
        [](const auto& value) -> Json {
            if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
                return nullptr;
            } else {
                return value;
            }
        },
        cell);
}

std::string cell_json(const ResultCell& cell) {
    const auto* const number = std::get_if<double>(&cell);
    WEFT_CHECK(!number || std::isfinite(*number), "a result is not finite");
    return cell_value(cell).dump(-1, ' ', false, Json::error_handler_t::replace);
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

std::string table_text(const ResultTable& table, std::size_t indent) {
    std::vector<std::string> lines(table.rows.size() + 1, std::string(indent, ' '));
    std::string_view between;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        const Column& column = table.columns[c];
        if (!column.heading) continue;
        const bool is_left = column.heading->starts_with('<');
        std::vector<std::string> cells{column.heading->substr(is_left ? 1 : 0)};
        for (const std::vector<ResultCell>& row : table.rows) cells.push_back(column.text(row[c]));
        const std::size_t width = std::ranges::max(cells, {}, &std::string::size).size();
        for (std::size_t i = 0; i < cells.size(); ++i) {
            lines[i] += between;
            lines[i] += is_left ? fmt::format("{:<{}}", cells[i], width) : fmt::format("{:>{}}", cells[i], width);
        }
        between = "  ";
    }
    std::string text;
    for (std::string& line : lines) text += line.erase(line.find_last_not_of(' ') + 1) + '\n';
    return text;
}

Json table_json(const ResultTable& table) {
    Json rows = Json::array();
    for (const std::vector<ResultCell>& row : table.rows) {
        Json json = Json::object();
        for (std::size_t i = 0; i < row.size(); ++i) {
            const Column& column = table.columns[i];
            const bool is_told = !column.name.empty() && column.readers != Readers::of_csv;
            if (is_told && !std::holds_alternative<std::monostate>(row[i])) json[column.name] = cell_value(row[i]);
        }
        rows.push_back(std::move(json));
    }
    return rows;
}

std::string table_csv(const ResultTable& table) {
    return csv(
        table, [](const Column& column) { return !column.name.empty() && column.readers != Readers::of_json; }, digits);
}

std::string result_csv(const ResultTable& table) {
    return csv(
        table, [](const Column&) { return true; }, cell_text);
}

std::string result_json_lines(const ResultTable& table) {
    const auto keys =
        list_of<std::string>(table.columns, [](const Column& each) { return cell_json(each.name) + ':'; });
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

std::string csv_cell(std::string_view text) {
    const std::string safe = (is_formula(text) ? "'" : "") + std::string(text);
    if (safe.find_first_of(",\"\r\n") == std::string::npos) return safe;
    return '"' + boost::replace_all_copy(safe, "\"", "\"\"") + '"';
}

TextTable::TextTable(std::vector<std::string> headings) {
    for (std::string& heading : headings) {
        columns.push_back({.name = "", .unit = "", .meaning = "", .heading = std::move(heading)});
    }
}

void TextTable::add(std::vector<std::string> cells) {
    WEFT_CHECK(cells.size() == columns.size(), "a row has one cell per heading");
    rows.emplace_back(std::make_move_iterator(cells.begin()), std::make_move_iterator(cells.end()));
}

}  // namespace weft
