// What `weft replay` prints.
#pragma once

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
ResultTable replayed_call_table(const ReplaySummary& summary);
ResultTable replayed_path_table(const ReplaySummary& summary, std::size_t most);  // rows

std::string replay_text(const ReplaySummary& summary, const ReplaySetting& setting);
// The keys of `weft simulate --json`, where they mean something, and "recorded".
std::string replay_json(const ReplaySummary& summary, const ReplaySetting& setting, Seconds wall);

}  // namespace weft
