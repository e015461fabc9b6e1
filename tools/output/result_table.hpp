// Rows of named and typed columns: what a sweep or a search for layouts gives, and the rows of other results. One table
// feeds text, CSV, JSON, JSON Lines, SQLite and pages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tools/output/json_text.hpp"

namespace weft {

enum class ColumnKind : std::uint8_t { key, metric, note };  // what was varied; what came out; why nothing did

enum class Readers : std::uint8_t { all, of_json, of_csv };  // of the two kinds of files for programs

// Nothing (a metric of a point without a result), or a value in its own type.
using ResultCell = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

// For people and CSV: as in JSON, but texts bare, and nothing for nothing.
std::string cell_text(const ResultCell& cell);

struct Column {
    std::string name;  // "batch.sequence", "step_time_s": a metric's name ends in its unit; "": only people see it
    std::string unit;  // "s", "B", "tokens/s", "" for counts, ratios and texts
    std::string meaning;
    ColumnKind kind = ColumnKind::metric;
    std::optional<std::string> heading{};  // in texts, to the left behind a '<'; none: only programs see it
    std::string (*text)(const ResultCell&) = cell_text;  // how people read a cell
    Readers readers = Readers::all;
};

struct ResultTable {
    std::vector<Column> columns;
    std::vector<std::vector<ResultCell>> rows;  // as many cells as columns
};

bool has_result(const ResultTable& table, const std::vector<ResultCell>& row);  // any metric
// NaN if there is none.
double cell_number(const ResultCell& cell);
// A double that is whole as an integer.
ResultCell whole_cell(const ResultCell& cell);
Json cell_value(const ResultCell& cell);
// As JSON has it: "null", "true", "12", "0.5", "1.0" (a whole double keeps its point), "\"text\"".
std::string cell_json(const ResultCell& cell);
// JSON's numbers, true and false; other texts as they are. cell_json() of any of these gives it back.
ResultCell cell_of_json(std::string_view text);
// The columns with a heading, two spaces apart: numbers right, words left.
std::string table_text(const ResultTable& table, std::size_t indent = 0);
// The columns with a name: an object per row, without the keys of which it has nothing. What is not finite is null.
Json table_json(const ResultTable& table);
// The same as comma-separated values (RFC 4180), one header line, one line per row; whole numbers without a point.
std::string table_csv(const ResultTable& table);

// As table_csv(), but numbers in their own type: a whole double keeps its point. Nothing is an empty cell; numbers in
// the fewest digits that give the same value back.
std::string result_csv(const ResultTable& table);

std::string result_json_lines(const ResultTable& table);

// In quotation marks where it has to be. What a spreadsheet would take for a formula (= + - @ before what is no number)
// gets an apostrophe in front: names come from files that somebody else may have written.
std::string csv_cell(std::string_view text);

// A table of texts, row by row.
struct TextTable : ResultTable {
    explicit TextTable(std::vector<std::string> headings);  // of its columns
    void add(std::vector<std::string> cells);               // as many
    std::string text(std::size_t indent = 0) const { return table_text(*this, indent); }
};

}  // namespace weft
