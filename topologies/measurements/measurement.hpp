// Measured times of collectives, read from what benchmarks print or from tables of them:
//   - the output of nccl-tests and rccl-tests (*_perf), and the file that they write with -J,
//   - the output of the OSU micro-benchmarks (osu_*),
//   - CSV with a line of column names; lines that begin with # are comments. Columns, by any of these names:
//       operation         collective, op                                      (or told by the caller)
//       ranks             ranks, ranks_gcd, n_gpus, nranks                    (unknown if absent)
//       nodes             nnodes, nodes                                       (unknown if absent)
//       size              size_bytes, bytes, size
//       time              time_<unit>[_<anything>], unit s, ms, us or ns; with _oop and _ip for out of and in place
//       or bandwidth      algbw, busbw, busbw_gbps, ... in 10^9 bytes/s, as nccl-tests prints them, where no time is
//       size convention   convention (nccl or osu)                            (or told by the caller)
//       machine, library
//       variant           any of variant, algorithm, algo, tool, path, n_groups
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/collective/algorithm.hpp"
#include "sim/io/diagnostics.hpp"

namespace weft {

// What a benchmark means by the size of a message.
enum class SizeConvention : std::uint8_t {
    nccl,  // bytes of the full buffer: all-gather the output, reduce-scatter and all-to-all the input of one rank
    osu,   // OSU micro-benchmarks: the same, but all-gather bytes sent per rank, all-to-all bytes per destination
};

// Bytes of the full buffer of a message that `convention` calls `size`, among `members` ranks.
Bytes full_size(Collective op, Bytes size, SizeConvention convention, std::uint32_t members);
// The inverse.
Bytes stated_size(Collective op, Bytes message, SizeConvention convention, std::uint32_t members);

// Bytes on the wire per second of algorithm bandwidth, which makes operations comparable with link speeds: 2 (n-1)/n
// for all-reduce, (n-1)/n for all-gather, reduce-scatter and all-to-all, otherwise 1 (nccl-tests, doc/PERFORMANCE.md).
double bus_factor(Collective op, std::uint32_t members);

struct CollectiveMeasurement {
    Collective op{};
    std::uint32_t ranks = 0, nodes = 0;  // 0: not told
    Bytes size{};                        // of the full buffer
    Seconds time{};
    std::string library{}, machine{}, variant{};  // empty: not told
    int line = 0;
};

struct SkippedRow {
    int line = 0;
    std::string why;
};

struct MeasurementTable {
    std::string file;
    std::vector<CollectiveMeasurement> rows;  // in the order of the file
    std::vector<SkippedRow> skipped;          // that have no size or no time
};

enum class ResultPlace : std::uint8_t { out_of_place, in_place };  // which of the two columns of nccl-tests

// What a file may leave out (what it does tell counts), and which of its rows are wanted.
struct MeasurementHints {
    std::optional<Collective> op{};
    std::uint32_t ranks = 0, nodes = 0;  // 0: unknown
    std::optional<SizeConvention> convention{};
    ResultPlace place = ResultPlace::out_of_place;
    std::vector<std::pair<std::string, std::string>> where{};  // CSV: only rows with these values in these columns
};

// Throw ConfigError, with all the errors found at their lines (up to 20).
MeasurementTable read_measurements(const std::filesystem::path& path, const MeasurementHints& hints = {});
MeasurementTable parse_measurements(std::string file, std::string_view text, const MeasurementHints& hints = {});

// Of `rows` of `table` those of a library, where they are of several ("cray-mpich" also names "Cray MPICH 8.1.29").
// Throws ConfigError if none is left, or if a call that is left was measured in several variants.
std::vector<CollectiveMeasurement> of_one_kind(const MeasurementTable& table, std::vector<CollectiveMeasurement> rows,
                                               std::string_view library);

// The lines of a table of measurements, and the errors found in them. For the readers of this folder.

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
std::string listing(const std::set<std::string>& texts);     // as many as a message can hold

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
std::optional<std::string> osu_heading(const TableText& text);  // "# OSU MPI Allreduce Latency Test v7.5"

}  // namespace weft
