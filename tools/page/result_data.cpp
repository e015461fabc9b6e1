#include "tools/page/result_data.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>

#include "sim/base/check.hpp"
#include "sim/base/enumerators.hpp"
#include "sim/io/units.hpp"
#include "tools/output/figures.hpp"
#include "tools/output/svg_text.hpp"
#include "tools/page/html.hpp"

namespace weft {
namespace {

using ResultRow = std::vector<ResultCell>;

// Of a column that not every table has.
struct Best {
    std::string_view column, name;
    Extreme extreme;
    std::string (*text)(double);
};

constexpr Best bests[] = {
    {"step_time_s", "shortest step", Extreme::least, [](double value) { return to_text(Seconds{value}); }},
    {"throughput_model_tflops_per_gpu", "most model TFLOP/s per GPU", Extreme::greatest,
     [](double value) { return fmt::format("{:.1f}", value); }},
    {"time_s", "slowest message", Extreme::greatest, [](double value) { return to_text(Seconds{value}); }},
    {"memory_peak_bytes", "least memory", Extreme::least, [](double value) { return to_text(Bytes{value}); }},
};

struct Key {
    std::size_t column = 0;
    std::vector<std::uint32_t> values;  // by row: numbers of distinct values, in order of first arrival
    std::uint32_t distinct = 0;
};

Key key_of(const ResultTable& table, std::size_t column) {
    Key key{.column = column, .values = {}, .distinct = 0};
    std::map<ResultCell, std::uint32_t> numbers;
    for (const std::vector<ResultCell>& row : table.rows) {
        key.values.push_back(
            numbers.try_emplace(row[column], static_cast<std::uint32_t>(numbers.size())).first->second);
    }
    key.distinct = static_cast<std::uint32_t>(numbers.size());
    return key;
}

// Whether rows with equal values of `key` have equal values of `other`.
bool determines(const Key& key, const Key& other) {
    constexpr std::uint32_t unknown = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::uint32_t> found(key.distinct, unknown);
    for (std::size_t row = 0; row < key.values.size(); ++row) {
        std::uint32_t& value = found[key.values[row]];
        if (value == unknown) value = other.values[row];
        if (value != other.values[row]) return false;
    }
    return true;
}

bool follows(const Key& key, const Key& other) {
    return key.column != other.column && determines(other, key) &&
           (other.column < key.column || !determines(key, other));
}

}  // namespace

std::optional<double> number_of(const ResultCell& cell) {
    const double number = cell_number(cell);
    return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

Json result_json(const ResultTable& table) {
    Json json{{"columns", Json::array()}, {"values", Json::array()}};
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        const Column& column = table.columns[c];
        json["columns"].push_back({{"name", column.name},
                                   {"unit", column.unit},
                                   {"meaning", column.meaning},
                                   {"kind", enumerator_name(column.kind)}});
        json["values"].push_back(json_list<Json>(table.rows, [&](const ResultRow& row) {
            WEFT_CHECK(row.size() == table.columns.size(), "a row has other cells than columns");
            return cell_value(row[c]);
        }));
    }
    const std::vector<std::size_t> telling = telling_keys(table);
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        if (table.columns[c].kind != ColumnKind::key) continue;
        json["columns"][c]["tells"] = std::ranges::find(telling, c) != telling.end();
    }
    return json;
}

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
    return static_cast<std::size_t>(
        std::ranges::count_if(table.rows, [&](const ResultRow& row) { return has_result(table, row); }));
}

std::string keys_text(const ResultTable& table, std::span<const std::size_t> keys, std::size_t row) {
    return comma_list(keys, [&](std::size_t key) {
        const ResultCell& cell = table.rows[row][key];
        const bool is_told = !std::holds_alternative<std::monostate>(cell);
        return is_told ? table.columns[key].name + ' ' + cell_text(cell) : std::string();
    });
}

std::string result_head(const ResultPageText& text, const ResultTable& table, const RowsCard& rows) {
    HtmlText html;
    if (!text.summary.empty()) html.add("<p class=\"lead\">{}</p>", xml_escaped(text.summary));
    std::vector<HtmlCard> cards{{rows.name, grouped(double(rows.rows)), xml_escaped(rows.note)}};
    const std::vector<std::size_t> keys = telling_keys(table);
    for (const Best& best : bests) {
        if (const auto row = extreme_row(table, best.column, best.extreme)) {
            cards.push_back({best.name, best.text(row->value), xml_escaped(keys_text(table, keys, row->row))});
        }
    }
    html.put(html_cards(cards, "cards wide"));
    html.add("{}", html_made_by(text.command));
    return html.take();
}

std::vector<std::size_t> telling_keys(const ResultTable& table) {
    std::vector<Key> keys;
    std::vector<std::size_t> all, telling;
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
        if (table.columns[column].kind != ColumnKind::key) continue;
        all.push_back(column);
        keys.push_back(key_of(table, column));
    }
    std::erase_if(keys, [](const Key& key) { return key.distinct < 2; });
    for (const Key& key : keys) {
        if (std::ranges::none_of(keys, [&](const Key& other) { return follows(key, other); })) {
            telling.push_back(key.column);
        }
    }
    return telling.empty() ? all : telling;
}

}  // namespace weft
