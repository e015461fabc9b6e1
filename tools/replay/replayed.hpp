// A recorded program as it was asked for, run on a machine: what the command and the library have in common.
#pragma once

#include <memory>

#include "tools/command.hpp"
#include "tools/output/replay_text.hpp"
#include "workloads/recorded/costs.hpp"

namespace weft {

struct ReplayedTraces {
    std::unique_ptr<const Machine> machine;  // that `setting` refers to
    ReplaySetting setting{};
    RecordedProgram program{};
    Meetings meetings{};
    RecordedCosts costs{};
    RecordedRun run{};
    ReplaySummary summary{};
    Seconds wall{};  // that all of it took
};

// `arguments` of `weft replay`. Throws ConfigError and po::error.
ReplayedTraces replay_traces(const po::variables_map& arguments);

}  // namespace weft
