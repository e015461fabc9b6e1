// A table of results as the file that a name asks for. In a SQLite file tables of many runs stand side by side:
//   runs     run, command, job, inputs, weft, points, results   one line per run; `inputs` is the hash of all that its
//                                                               rows follow from, `weft` the version that computed them
//   columns  run, name, unit, meaning, kind                     what the columns of a run are
//   results  run, point, and one typed column per name          a column that a run does not have is NULL in its rows
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "tools/output/result_table.hpp"

struct sqlite3;
struct sqlite3_stmt;

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

// SQLite's C interface with owners and exceptions. What goes wrong is a std::runtime_error with the file and the
// reason; where there is no file, a std::invalid_argument with SQLite's reason.
class SqliteFile {
  public:
    explicit SqliteFile(const std::filesystem::path& path);  // made, empty, where there is none
    SqliteFile();                                            // in memory

    void execute(const std::string& sql);  // one or several statements without values
    std::int64_t last_row() const;         // the rowid of what was inserted last

    [[noreturn]] void refuse() const;                           // with SQLite's reason for the last failure
    [[noreturn]] void refuse(const std::string& reason) const;  // with ours

    // A statement with values for its question marks, and the rows that it gives.
    class Statement {
      public:
        Statement(const SqliteFile& file, std::string_view sql);
        Statement& with(std::initializer_list<ResultCell> values);  // in place of those before, to run it anew
        void bind(int position, const ResultCell& value);           // from 1
        bool step();                                                // to the next row; false: there is none
        ResultCell value(int column) const;                         // of the row; from 0

      private:
        struct Finish {
            void operator()(sqlite3_stmt* statement) const;
        };
        const SqliteFile& file_;
        std::unique_ptr<sqlite3_stmt, Finish> statement_;
    };

  private:
    struct Close {
        void operator()(sqlite3* database) const;
    };
    std::filesystem::path path_;
    std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace weft
