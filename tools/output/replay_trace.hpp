// The timeline of a replay.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "workloads/recorded/replay.hpp"

namespace weft {

// Those of `count` nodes from `first` on that take time, as they begin.
std::vector<std::uint32_t> nodes_in_time(const RecordedRun& run, std::uint32_t first, std::size_t count);

// The timeline of every rank in Chrome's Trace Event format, packed if the name ends in .gz: a process each, a thread
// for each of its units, and as many for communication, waiting for others included, as goes on at once.
void write_replay_trace(const std::filesystem::path& path, const RecordedProgram& program, const Meetings& meetings,
                        const RecordedRun& run);

}  // namespace weft
