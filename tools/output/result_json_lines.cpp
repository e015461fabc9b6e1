#include "tools/output/result_json_lines.hpp"

#include <fmt/format.h>

#include "tools/output/json_text.hpp"
#include "tools/output/result_cell.hpp"

namespace weft {

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

}  // namespace weft
