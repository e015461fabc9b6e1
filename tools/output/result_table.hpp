// Rows of named and typed columns: what a sweep or a search for layouts gives. One table feeds CSV, JSON Lines, SQLite
// and pages.
#pragma once

#include <cstdint>
#include <string>
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

}  // namespace weft
