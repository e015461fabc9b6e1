// A simulated step and a replayed program as files to look at: a trace for viewers, a picture for documents.
#pragma once

#include <filesystem>
#include <vector>

#include "workloads/recorded/replay.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {

std::vector<RankClassId> first_classes(const Step& step);  // of each stage, by stage

// Chrome trace (.json or .json.gz) with the memory of each stage over time. Warns on stderr if slices were left out.
void write_step_trace(const Simulation& simulation, const std::filesystem::path& path);
void write_step_picture(const Simulation& simulation, const std::filesystem::path& path);  // SVG

// Those of `count` nodes from `first` on that take time, as they begin.
std::vector<std::uint32_t> nodes_in_time(const RecordedRun& run, std::uint32_t first, std::size_t count);

// The timeline of every rank in Chrome's Trace Event format, packed if the name ends in .gz: a process each, a thread
// for each of its units, and as many for communication, waiting for others included, as goes on at once.
void write_replay_trace(const std::filesystem::path& path, const RecordedProgram& program, const Meetings& meetings,
                        const RecordedRun& run);

}  // namespace weft
