// Rows of named and typed columns: what a sweep or a search for layouts gives, and the rows of other results. One table
// feeds text, CSV, JSON, JSON Lines, SQLite and pages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace weft {

enum class ColumnKind : std::uint8_t { key, metric, note };  // what was varied; what came out; why nothing did

struct Column {
    std::string name;  // "batch.sequence", "step_time_s": a metric's name ends in its unit
    std::string unit;  // "s", "B", "tokens/s", "" for counts, ratios and texts
    std::string meaning;
    ColumnKind kind = ColumnKind::metric;
};

// Nothing (a metric of a point without a result), or a value in its own type.
using ResultCell = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

struct ResultTable {
    std::vector<Column> columns;
    std::vector<std::vector<ResultCell>> rows;  // as many cells as columns
};

// As JSON has it: "null", "true", "12", "0.5", "1.0" (a whole double keeps its point), "\"text\"".
std::string cell_json(const ResultCell& cell);
// JSON's numbers, true and false; other texts as they are. cell_json() of any of these gives it back.
ResultCell cell_of_json(std::string_view text);
// For people and CSV: as in JSON, but texts bare, and nothing for nothing.
std::string cell_text(const ResultCell& cell);

// Nothing is an empty cell; numbers in the fewest digits that give the same value back.
std::string result_csv(const ResultTable& table);

std::string result_json_lines(const ResultTable& table);

// In quotation marks where it has to be. What a spreadsheet would take for a formula (= + - @ before what is no number)
// gets an apostrophe in front: names come from files that somebody else may have written.
std::string csv_cell(std::string_view text);

}  // namespace weft
