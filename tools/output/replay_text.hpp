// What `weft replay` prints, and its trace.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "sim/engine/engine.hpp"
#include "tools/output/result_table.hpp"
#include "topologies/machine.hpp"
#include "workloads/recorded/summary.hpp"

namespace weft {

// What was replayed on.
struct ReplaySetting {
    const MachineInfo* machine = nullptr;
    const Library* library = nullptr;
    std::uint32_t nodes = 1;
    NetworkKind network = NetworkKind::flow;
    std::string compute;  // as asked
};

// What the text and the page have in common.
std::string_view activity_word(RankActivity activity);
std::string replay_setting_text(const ReplaySummary& summary, const ReplaySetting& setting);
// Of so many nodes of a rank from its first on, those that take any time, by when they begin.
std::vector<std::uint32_t> nodes_in_time(const RecordedRun& run, std::uint32_t first, std::size_t count);
TextTable replayed_call_table(const ReplaySummary& summary);
TextTable replayed_path_table(const ReplaySummary& summary, std::size_t most);  // rows
TextTable replayed_link_table(const ReplaySummary& summary);

std::string replay_text(const ReplaySummary& summary, const ReplaySetting& setting);
// The keys of `weft simulate --json`, where they mean something, and "recorded".
std::string replay_json(const ReplaySummary& summary, const ReplaySetting& setting, Seconds wall);

// The timeline of every rank in Chrome's Trace Event format, packed if the name ends in .gz: a process each, a thread
// for each of its units, and as many for communication, waiting for others included, as goes on at once.
void write_replay_trace(const std::filesystem::path& path, const RecordedProgram& program, const Meetings& meetings,
                        const RecordedRun& run);

}  // namespace weft
