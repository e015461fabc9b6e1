// Sums over a volume table: what each collective moves in one steady step, and what is moved once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

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

}  // namespace weft
