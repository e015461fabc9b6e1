// A table of results as the file that a name asks for. In a SQLite file tables of many runs stand side by side:
//   runs     run, command, job, inputs, weft, points, results   one line per run; `inputs` is the hash of all that its
//                                                               rows follow from, `weft` the version that computed them
//   columns  run, name, unit, meaning, kind                     what the columns of a run are
//   results  run, point, and one typed column per name          a column that a run does not have is NULL in its rows
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "tools/output/result_table.hpp"

namespace weft {

// Where a table comes from.
struct RunRecord {
    std::string command;  // "sweep"
    std::string job;      // its name
    std::string inputs;   // a hash; equal for equal tables
};

// Adds the table to the file, which is made where there is none; rows of an earlier run of the same command and inputs
// give way to it. In one transaction: a reader, or a crash, sees all of it or nothing, and writers wait for each other.
// A column takes its type (INTEGER, REAL, TEXT) from the first run that has it. Throws std::runtime_error with the
// reason: not a database, a database of another program, not writable, a column called "run" or "point".
void append_sqlite(const std::filesystem::path& path, const RunRecord& run, const ResultTable& table);

enum class ResultFormat : std::uint8_t { csv, json_lines, sqlite };

// By the name's ending: .csv, .jsonl, .sqlite. Throws std::invalid_argument, with the endings there are, for another.
ResultFormat result_format(const std::filesystem::path& path);

// Writes the whole file or nothing; a SQLite file gets the table beside those it has. Throws std::runtime_error.
void write_results(const std::filesystem::path& path, const RunRecord& run, const ResultTable& table);

}  // namespace weft
