// The lines of a table of measurements, and the errors found in them. For the readers of this folder.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/io/diagnostics.hpp"
#include "topologies/measurements/measurement.hpp"

namespace weft {

struct TableLine {
    int number = 0;  // from 1
    std::string_view text;
};

struct TableText {
    std::string file;
    std::vector<TableLine> comments;  // begin with '#', after blanks
    std::vector<TableLine> lines;     // the others that are not blank
};

TableText split_lines(std::string file, std::string_view text);

std::vector<std::string_view> words(std::string_view text);  // between blanks
std::optional<double> to_number(std::string_view text);      // finite, the whole text
std::string letters(std::string_view text);                  // only letters and digits, in lower case
std::string excerpt(std::string_view text);                  // printable, at most 40 characters, for messages

class TableErrors {
  public:
    explicit TableErrors(std::string file) : file_(std::move(file)) {}
    void add(int line, std::string message) { add(line, 1, std::move(message)); }  // line 0: of the whole file
    void add(int line, int column, std::string message);
    bool is_full() const { return errors_.size() >= most; }
    void check() const;  // throws ConfigError if there is any
    [[noreturn]] void fail(int line, std::string message);

  private:
    static constexpr std::size_t most = 20;
    std::string file_;
    std::vector<Diagnostic> errors_;
};

// Rows of a CSV file by the names of their columns.
struct CsvRow {
    int line = 0;
    std::vector<std::string> cells{};
    std::vector<int> places{};  // where each begins on its line, from 1
};

// RFC 4180, a record per line. Nothing if a quotation is still open at its end.
std::optional<CsvRow> read_csv_row(const TableLine& line);

struct CsvTable {
    std::vector<std::string> columns;  // in lower case
    std::vector<CsvRow> rows;          // each of so many cells

    std::optional<std::size_t> find(std::string_view column) const;
};

// The first line has the names. Errors: an open quotation, a row of another length, a
// name that stands there twice.
CsvTable read_csv_table(const TableText& text, TableErrors& errors);

// One reader per format; measurement.cpp decides which. Each throws ConfigError for what it cannot read.
MeasurementTable read_nccl_tests(const TableText& text, const MeasurementHints& hints);
MeasurementTable read_nccl_tests_json(std::string file, std::string text, const MeasurementHints& hints);
MeasurementTable read_osu(const TableText& text, const MeasurementHints& hints);
MeasurementTable read_measurement_csv(const TableText& text, const MeasurementHints& hints);

// What the program said it measures, as "all_reduce" in "all_reduce_perf"; nothing if no comment names one.
std::optional<Collective> nccl_tests_op(const TableText& text);
std::optional<Collective> nccl_tests_program(std::string_view word);  // of the program's name, with its folder
std::optional<std::string> osu_heading(const TableText& text);        // "# OSU MPI Allreduce Latency Test v7.5"

}  // namespace weft
