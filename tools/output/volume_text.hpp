// A volume table for people, as JSON and as comma-separated values, and its sums: what each collective moves in one
// steady step, and what is moved once.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tools/output/histogram.hpp"
#include "workloads/volume/volume.hpp"

namespace weft {

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
std::string volume_json(const VolumeTable& table, VolumeParts parts = VolumeParts::rows,
                        const nlohmann::ordered_json* job = nullptr);

// A line per row of the table; step_bytes and step_percent are its part of one steady step.
std::string volume_csv(const VolumeTable& table);
std::string volume_totals_csv(const VolumeTable& table);  // a line per collective and moment

// Messages of one steady step, by size: the full tensors of its calls.
std::vector<HistogramBin> volume_histogram(const VolumeTable& table);

}  // namespace weft
