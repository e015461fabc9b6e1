// A volume table for people, as JSON and as comma-separated values; its sums, what each collective moves in one steady
// step, and what is moved once; and how often messages of which size are sent, a histogram in powers of two for every
// operation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/base/table.hpp"
#include "tools/output/json_text.hpp"
#include "tools/output/result_table.hpp"
#include "workloads/volume/volume.hpp"

namespace weft {

struct MessageCount {
    std::string op;  // "all_gather"
    Bytes message;   // of one call
    double calls = 1;
};

// Calls of one operation with `from` <= message < `to`. `to` = 2 `from`, a power of two; empty messages stand apart
// in [0, 1).
struct HistogramBin {
    std::string op;
    Bytes from, to;
    double calls = 0;
    Bytes bytes;  // of all calls together

    bool operator==(const HistogramBin&) const = default;
};

// Bins that hold calls: operations in the order they first occur, below each its bins by size.
std::vector<HistogramBin> message_histogram(std::span<const MessageCount> messages);

// Calls see(bins) for those of each operation.
template <class See>
void for_each_operation(std::span<const HistogramBin> bins, See see) {
    while (!bins.empty()) {
        const auto other = std::ranges::find_if(bins, [&](const HistogramBin& bin) { return bin.op != bins[0].op; });
        const auto count = static_cast<std::size_t>(other - bins.begin());
        see(bins.first(count));
        bins = bins.subspan(count);
    }
}

// A block per operation, a line per bin with a bar as long as its calls (the longest of the operation: 40 marks; a bar
// is never shorter than one).
std::string histogram_text(std::span<const HistogramBin> bins);

// A row per bin. For people of one operation: with shares of its calls.
ResultTable histogram_table(std::span<const HistogramBin> bins);

struct CollectiveTotal {
    std::string op;
    double calls = 0;
    Bytes volume{};    // per rank, as in the rows
    double share = 0;  // of the volume of all collectives at the same time, 0 to 1; 0 where nothing is moved
};

// How often the calls of a row are made in one steady step: once ("step"), per micro-batch, or not at all ("start-up",
// "first-step").
double repeats_per_step(const VolumeTable& table, const VolumeRow& row);

// In the order of their first rows.
std::vector<CollectiveTotal> steady_totals(const VolumeTable& table);
// The rows of one `when`, each counted once: "start-up", "first-step".
std::vector<CollectiveTotal> once_totals(const VolumeTable& table, std::string_view when);

Bytes sum(const std::vector<CollectiveTotal>& totals);

enum class VolumeParts : std::uint8_t { rows, rows_and_histogram };

std::string volume_text(const VolumeTable& table, VolumeParts parts = VolumeParts::rows);

// {"weft", "job": what was counted, where it is given, "rows": [...], "totals": {"volume_bytes", "micro_batches",
// "collectives": [...]}, "histogram": [...]}. A row has "type", "label" and "logged_bytes" where they are known;
// "start_up" and "first_step" stand beside "collectives" where the table has such rows.
std::string volume_json(const VolumeTable& table, VolumeParts parts = VolumeParts::rows, const Json* job = nullptr);

// A line per row of the table; step_bytes and step_percent are its part of one steady step.
std::string volume_csv(const VolumeTable& table);
std::string volume_totals_csv(const VolumeTable& table);  // a line per collective and moment

// Messages of one steady step, by size: the full tensors of its calls.
std::vector<HistogramBin> volume_histogram(const VolumeTable& table);

// What DeepSpeed's communication logger prints of a run, byte for byte (0.14.0, utils/comms_logging.py and
// utils/timer.py): a line per call and a table at the end.

// Bits per second, decimal giga. A call that took no time has none (the logger would divide by zero).
struct LoggedBandwidth {
    double algorithm_gbps = 0, bus_gbps = 0;
};
// By the logger's own conventions: `world` is the number of all ranks, whatever the group of the call; gathers and
// reduce-scatters count size x world (which makes reduce_scatter_tensor, logged in full, `world` times too fast), and
// an all-reduce counts its size twice.
LoggedBandwidth logger_bandwidth(const LoggedCall& call, std::uint32_t world);

// "0B", "256.0 B", "2.0 KB", "98.25 MB": base 1024, rounded to two places, at least one printed.
std::string logger_size(Bytes size);

// One line per call in order, less the time stamp: ours would be that of the simulation's host. The logger itself
// prints on rank 0 only.
std::string logger_lines(std::span<const LoggedCall> calls, std::uint32_t world, RankId rank = RankId{0});

// The table: functions in the order they were first called, below each a row per exact size, ascending. Totals are of
// all calls; averages leave out the round(n / 10) greatest and least values.
std::string logger_summary(std::span<const LoggedCall> calls, std::uint32_t world);

}  // namespace weft
