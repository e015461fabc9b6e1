// A replayed program as a page.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

#include "tools/output/replay_text.hpp"
#include "tools/page/timeline.hpp"
#include "workloads/recorded/costs.hpp"
#include "workloads/recorded/replay.hpp"

namespace weft {

struct ReplayedProgram {
    const RecordedProgram& program;
    const Meetings& meetings;
    const RecordedCosts& costs;
    const RecordedRun& run;
};

// As timeline_data() has it, a row per rank: its units, and what it does in collectives, sends and receives. Of the
// ranks as many at equal distances as a page shows stages; "left_out" says how many slices of those are not there.
nlohmann::ordered_json replay_timeline(const ReplayedProgram& replayed, const TimelineLimits& limits = {});

std::string replay_page(const ReplayedProgram& replayed, const ReplaySummary& summary, const ReplaySetting& setting,
                        const std::string& command);

}  // namespace weft
