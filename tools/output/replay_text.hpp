// What `weft replay` prints.
#pragma once

#include <string>

#include "sim/engine/engine.hpp"
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

std::string replay_text(const ReplaySummary& summary, const ReplaySetting& setting);
// The keys of `weft simulate --json`, where they mean something, and "recorded".
std::string replay_json(const ReplaySummary& summary, const ReplaySetting& setting, Seconds wall);

}  // namespace weft
