// A table of results as the scripts of pages read it, and what a reader asks of one first.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/output/json_text.hpp"
#include "tools/output/result_table.hpp"
#include "tools/page/pages.hpp"

namespace weft {

// {"columns": [{"name", "unit", "meaning", "kind"}], "values": [...]}, the values column by column. Of keys also
// whether it "tells" rows apart (telling_keys).
Json result_json(const ResultTable& table);
std::string data_text(const Json& json);  // of any data for scripts; what is no UTF-8 is replaced

// Finite numbers only.
std::optional<double> number_of(const ResultCell& cell);

std::optional<std::size_t> find_column(const ResultTable& table, std::string_view name);

// The row where a column of numbers is least or greatest, the first of equal ones; rows without a number are passed
// over. Nothing if there is no such column, or no number in it.
enum class Extreme : std::uint8_t { least, greatest };
struct ExtremeRow {
    std::size_t row = 0;
    double value = 0;
};
std::optional<ExtremeRow> extreme_row(const ResultTable& table, std::string_view column, Extreme extreme);

// Rows that have a number in at least one column of metrics.
std::size_t rows_with_result(const ResultTable& table);

// "batch.sequence 2048, layout.tensor 8": some keys of a row.
std::string keys_text(const ResultTable& table, std::span<const std::size_t> keys, std::size_t row);

// Headline figures of a table of results.

// How many rows there are, and of which kinds.
struct RowsCard {
    std::string_view name;  // "points"
    std::size_t rows = 0;
    std::string note{};
};

// Summary and command, the number of rows and the best of them, as HTML.
std::string result_head(const ResultPageText& text, const ResultTable& table, const RowsCard& rows);

// Which keys of a table tell its rows apart, where some stay as they are and some go in step with others.

// Columns of kind key that have several values and do not follow from another one, as "layout.tensor" does from a
// "scheme" that it was zipped with; of those that go in step the first. All keys where none is left: a single row.
std::vector<std::size_t> telling_keys(const ResultTable& table);

}  // namespace weft
