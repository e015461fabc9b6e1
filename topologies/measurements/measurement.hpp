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

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/collective/algorithm.hpp"

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

}  // namespace weft
