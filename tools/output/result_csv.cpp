#include "tools/output/result_csv.hpp"

#include "tools/output/csv.hpp"
#include "tools/output/result_cell.hpp"

namespace weft {

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

}  // namespace weft
