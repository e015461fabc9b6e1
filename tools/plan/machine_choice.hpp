// One question asked of several machines: the best layout on each, and what a whole run takes there.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/endurance/run.hpp"
#include "tools/plan/layout_search.hpp"
#include "tools/plan/request.hpp"

namespace weft {

// What is asked of a run on each machine.
struct RunQuestion {
    double tokens = 0;
    std::vector<double> prices;  // of an accelerator for an hour, machine by machine; none: no cost is told
};

struct MachineAnswer {
    std::string machine;
    PlanRequest request;
    PlanResult result;
    std::optional<RunResult> run;  // where a layout fits and a run is asked for

    bool has_layout() const { return !result.simulated.empty(); }
};

// In the order of `machines`, names or paths. Throws ConfigError as read_space() does.
std::vector<MachineAnswer> ask_machines(const PlanRequest& request, std::span<const std::string> machines,
                                        const SearchOptions& options, const std::optional<RunQuestion>& question);

}  // namespace weft
