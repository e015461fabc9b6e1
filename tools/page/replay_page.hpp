// A replayed program as a page.
#pragma once

#include <string>

#include "tools/output/replay_text.hpp"
#include "workloads/recorded/costs.hpp"
#include "workloads/recorded/replay.hpp"

namespace weft {

struct ReplayedProgram {
    const RecordedProgram& program;
    const Meetings& meetings;
    const RecordedCosts& costs;
    const RecordedRun& run;
};

std::string replay_page(const ReplayedProgram& replayed, const ReplaySummary& summary, const ReplaySetting& setting,
                        const std::string& command);

}  // namespace weft
