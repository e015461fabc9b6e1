// The columns of a result's rows as one list: of each its key for programs, its heading for people, and what a row has
// there. Text, JSON and CSV are walks of it (result_table.hpp); how people read a cell follows from the type of what
// the row has. A column that is added here shows in all of them.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "sim/io/units.hpp"
#include "tools/output/figures.hpp"
#include "tools/output/json_text.hpp"
#include "tools/output/result_table.hpp"

namespace weft {

// A number as people read it.
template <std::string (*write)(double)>
struct Figure {
    double value = 0;

    friend std::string to_text(Figure figure) { return write(figure.value); }
};
using Share = Figure<percent>;
using Change = Figure<signed_percent_text>;
using Count = Figure<grouped>;

// A number or quantity that programs get without a fraction where it has none.
template <class Value>
struct Whole {
    Value of{};
};

template <class Value>
ResultCell cell_of(const Value& value) {
    if constexpr (std::is_same_v<Value, ResultCell>) {
        return value;
    } else if constexpr (requires { value.has_value(); }) {
        return value ? cell_of(*value) : ResultCell{};
    } else if constexpr (std::is_same_v<Value, bool> || std::is_floating_point_v<Value>) {
        return value;
    } else if constexpr (std::is_integral_v<Value>) {
        return static_cast<std::int64_t>(value);
    } else if constexpr (std::is_convertible_v<const Value&, std::string_view>) {
        return std::string(std::string_view(value));
    } else if constexpr (requires { value.of; }) {
        return whole_cell(cell_of(value.of));
    } else {
        return value.value;  // of a quantity or a figure
    }
}

// A cell that was made of such a value, as people read it.
template <class Value>
std::string text_of(const ResultCell& cell) {
    if constexpr (requires(Value value) { value.has_value(); }) {
        return std::holds_alternative<std::monostate>(cell) ? "" : text_of<typename Value::value_type>(cell);
    } else if constexpr (std::is_floating_point_v<Value>) {
        return number_text(cell_number(cell));
    } else if constexpr (std::is_integral_v<Value> || std::is_same_v<Value, ResultCell> ||
                         std::is_convertible_v<const Value&, std::string_view>) {
        return cell_text(cell);
    } else if constexpr (requires(Value value) { value.of; }) {
        return text_of<decltype(Value::of)>(cell);
    } else {
        return to_text(Value{cell_number(cell)});
    }
}

template <class Row>
struct ColumnOf {
    Column column;
    std::function<ResultCell(const Row&)> cell;

    // For programs and pages, with what it means.
    template <class Get>
    ColumnOf(std::string key, std::string unit, std::string meaning, Get get, ColumnKind kind = ColumnKind::metric)
        : ColumnOf(std::move(key), std::nullopt, get) {
        column.unit = std::move(unit);
        column.meaning = std::move(meaning);
        column.kind = kind;
    }
    // `key` "": only for people; `heading` nothing: only for programs. `get`: a member or a function of a row.
    template <class Get>
    ColumnOf(std::string key, std::optional<std::string> heading, Get get, Readers readers = Readers::all) {
        using Value = std::remove_cvref_t<std::invoke_result_t<Get, const Row&>>;
        column.name = std::move(key);
        column.heading = std::move(heading);
        column.text = text_of<Value>;
        column.readers = readers;
        cell = [get](const Row& row) { return cell_of<Value>(std::invoke(get, row)); };
    }
};

template <class Row>
using Columns = std::vector<ColumnOf<Row>>;

// So many significant ones.
template <int digits>
std::string significant(double value) {
    return fmt::format("{:.{}g}", value, digits);
}

// A getter of what another gives, as a figure; without a fraction where it has none; or a member of a member.
template <class Shown>
auto as(auto get) {
    return [get](const auto& row) { return Shown{cell_number(cell_of(std::invoke(get, row)))}; };
}
auto inside(auto outer, auto inner) {
    return [=](const auto& row) { return std::invoke(inner, std::invoke(outer, row)); };
}
// Of rows that `has` does not hold of: nothing.
auto where(auto has, auto get) {
    return [=](const auto& row) { return std::invoke(has, row) ? std::optional(std::invoke(get, row)) : std::nullopt; };
}
template <class Get>
auto whole(Get get) {
    return [get](const auto& row) {
        return Whole<std::remove_cvref_t<decltype(std::invoke(get, row))>>{std::invoke(get, row)};
    };
}

template <class Row, class Rows>
ResultTable table_of(const Rows& rows, const Columns<Row>& columns) {
    ResultTable table;
    for (const ColumnOf<Row>& each : columns) table.columns.push_back(each.column);
    for (const Row& row : rows) {
        std::vector<ResultCell>& cells = table.rows.emplace_back();
        for (const ColumnOf<Row>& each : columns) cells.push_back(each.cell(row));
    }
    return table;
}

// Of rows that are numbers, from 0 on.
inline ResultTable numbered_table(std::size_t rows, const Columns<std::size_t>& columns) {
    return table_of<std::size_t>(numbers_below<std::size_t>(rows), columns);
}

}  // namespace weft
