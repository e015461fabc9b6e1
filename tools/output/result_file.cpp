#include "tools/output/result_file.hpp"

#include <stdexcept>

#include "sim/io/atomic_file.hpp"
#include "tools/output/result_csv.hpp"
#include "tools/output/result_json_lines.hpp"

namespace weft {

ResultFormat result_format(const std::filesystem::path& path) {
    const std::string ending = path.extension().string();
    if (ending == ".csv") return ResultFormat::csv;
    if (ending == ".jsonl") return ResultFormat::json_lines;
    if (ending == ".sqlite") return ResultFormat::sqlite;
    throw std::invalid_argument("expected a name that ends in .csv, .jsonl or .sqlite, got \"" + path.string() + "\"");
}

void write_results(const std::filesystem::path& path, const RunRecord& run, const ResultTable& table) {
    switch (result_format(path)) {
        case ResultFormat::csv:
            return write_file_atomically(path, result_csv(table));
        case ResultFormat::json_lines:
            return write_file_atomically(path, result_json_lines(table));
        case ResultFormat::sqlite:
            return append_sqlite(path, run, table);
    }
}

}  // namespace weft
