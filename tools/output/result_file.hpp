// A table of results as the file that a name asks for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "tools/output/result_sqlite.hpp"
#include "tools/output/result_table.hpp"

namespace weft {

enum class ResultFormat : std::uint8_t { csv, json_lines, sqlite };

// By the name's ending: .csv, .jsonl, .sqlite. Throws std::invalid_argument, with the endings there are, for another.
ResultFormat result_format(const std::filesystem::path& path);

// Writes the whole file or nothing; a SQLite file gets the table beside those it has. Throws std::runtime_error.
void write_results(const std::filesystem::path& path, const RunRecord& run, const ResultTable& table);

}  // namespace weft
