#include "workloads/step/step_builder.hpp"

#include <fmt/format.h>

#include "sim/program/program_builder.hpp"
#include "workloads/step/lanes.hpp"
#include "workloads/step/script_placer.hpp"
#include "workloads/step/stage_script.hpp"

namespace weft {

namespace {

// `script_of` a stage.
template <class ScriptOf>
Step build(const Plan& plan, const Topology& topology, Folding folding, ScriptOf script_of) {
    ProgramBuilder builder(lanes::names(), plan.device.interference);
    Groups groups(plan, topology, folding, builder);
    Step step;
    std::uint32_t written = 0xffffffff;
    Script script;
    for (const Cell& cell : make_cells(plan, folding)) {
        const std::string name =
            folding == Folding::stages
                ? fmt::format("stage {}", cell.stage)
                : fmt::format("rank {} (stage {})", static_cast<std::uint32_t>(cell.representative), cell.stage);
        if (written != cell.stage) script = script_of(cell.stage);
        written = cell.stage;
        builder.begin_class(name, cell.representative, cell.weight);
        step.stage.push_back(cell.stage);
        place_script(script, cell, groups, builder);
    }
    step.program = builder.finish();
    return step;
}

}  // namespace

Step build_step(const Plan& plan, const Topology& topology, Folding folding) {
    return build(plan, topology, folding, [&](std::uint32_t stage) { return step_script(plan, stage, plan.job.step); });
}

Step build_start_up(const Plan& plan, const Topology& topology, Folding folding) {
    return build(plan, topology, folding, [&](std::uint32_t stage) { return start_up_script(plan, stage); });
}

}  // namespace weft
