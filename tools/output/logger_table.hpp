// What DeepSpeed's communication logger prints of a run, byte for byte (0.14.0, utils/comms_logging.py and
// utils/timer.py): a line per call and a table at the end.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "sim/base/quantity.hpp"
#include "sim/base/table.hpp"
#include "workloads/volume/volume.hpp"

namespace weft {

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
