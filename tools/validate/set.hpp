// A validation set: published measurements of one source, each with the job that it is a measurement of. A set is a
// JSON file (what is common) and a CSV file (one measured run per row); tests/validation/README.md tells of both.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

// Whether constants of a device, machine or framework were fitted to the row; a disturbed measurement judges nothing
// and is fitted to by nothing. Rows of different uses never mix.
enum class RowUse : std::uint8_t { predict, fit, disturbed };

// A job key and its value, as written.
struct JobCell {
    std::string key;  // "layout.tensor"
    std::string value;
};

struct PublishedValue {
    std::string quantity;  // the column without "measured.": "step_s"
    double value = 0;      // in SI units; above 0
};

struct ValidationRow {
    std::string name;  // unique within the set
    RowUse use{};
    std::vector<JobCell> cells;  // what differs from the set's common job; no empty ones
    std::vector<PublishedValue> measured;
    std::string note;
    std::string disturbed;  // why the measurement is taken to be, if it is
    int line = 0;           // of the table
};

// The most that statistics of absolute relative errors may be; nothing: not promised.
struct ErrorBounds {
    std::optional<double> mean, median, percentile_90, largest;
};

struct ValidationSet {
    std::string name;                // of the JSON file, without folder and ending
    std::string path, table_path{};  // of the two files, for messages
    std::string title, source;
    std::vector<std::string> assumptions{};  // what the source does not say
    ErrorBounds bounds;                      // of the rows marked predict
    ErrorBounds residual_bounds;             // of those marked fit
    std::vector<std::string> fits{};         // constants fitted to rows marked fit: "a100-80.host_launch"
    std::string job{};                       // common keys, a JSON object
    std::vector<ValidationRow> rows{};
};

// A shipped set, or the path of a set's JSON file. Throws ConfigError with every mistake in either file.
ValidationSet load_validation_set(std::string_view name);
// The same from the texts of the two files.
ValidationSet read_validation_set(const std::string& path, std::string text, const std::string& table_path,
                                  std::string_view table);
std::vector<std::string> validation_set_names();  // shipped, sorted

// The CSV file of a validation set. Its columns:
//
//   name                  of the row, unique
//   use                   fit or predict
//   measured.<quantity>   what was measured (tools/validate/run.hpp); an empty cell: not measured
//   note                  optional, for people
//   disturbed             optional: why the measurement is disturbed; the row is reported apart then
//   any other             a key of the job file, such as layout.tensor; an empty cell: the set's common value

}  // namespace weft
