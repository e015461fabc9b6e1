#include "workloads/plan/needed_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/io/diagnostics.hpp"
#include "topologies/library_reader.hpp"
#include "workloads/stage/stage_script.hpp"

namespace weft {
namespace {

// What the job could name as its library in place of its own.
std::string instead(const MachineInfo& machine, Collective op) {
    std::vector<std::string> names;
    for (const Library& library : machine.libraries) {
        if (library.runs(op)) names.push_back("\"library\": \"" + library.name + "\"");
    }
    return names.empty() ? "" : fmt::format("; the job may say {}, which has it", fmt::join(names, " or "));
}

}  // namespace

std::set<Collective> collectives_of(const Plan& plan) {
    std::set<Collective> ops;
    for (std::uint32_t stage = 0; stage < plan.stages.size(); ++stage) {
        const Script script = step_script(plan, stage, plan.job.step);
        for (const Call& call : script.calls()) ops.insert(call.op);
    }
    return ops;
}

void check_calls(const Plan& plan) {
    const Library& library = plan.machine.library();
    const auto runs = [&](Collective op) { return library.runs(op); };
    if (std::ranges::all_of(every_collective, runs)) return;
    std::vector<Diagnostic> errors;
    for (const Collective op : collectives_of(plan)) {
        if (runs(op)) continue;
        errors.push_back({.file = {},
                          .key = "library",
                          .message = fmt::format("{} calls {}, for which {} on {} has no costs: its \"costs\" in the "
                                                 "machine file need a row with \"algorithm\" {}{}",
                                                 plan.job.framework->name, name(op), library.name, plan.machine.name,
                                                 fmt::join(algorithms_of(op), " or "), instead(plan.machine, op))});
    }
    if (!errors.empty()) throw ConfigError(std::move(errors));
}

}  // namespace weft
