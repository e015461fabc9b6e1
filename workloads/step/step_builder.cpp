#include "workloads/step/step_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/program/program_builder.hpp"
#include "workloads/step/families.hpp"
#include "workloads/step/groups.hpp"
#include "workloads/step/lanes.hpp"
#include "workloads/step/script_placer.hpp"
#include "workloads/step/stage_script.hpp"

namespace weft {

namespace {

std::string name_of(const Cell& cell, const RankClasses& classes) {
    const auto rank = static_cast<std::uint32_t>(cell.representative);
    if (classes.folding == Folding::none) return fmt::format("rank {} (stage {})", rank, cell.stage);
    const auto same_stage = [&](const Cell& other) { return other.stage == cell.stage; };
    if (std::ranges::count_if(classes.cells, same_stage) == 1) return fmt::format("stage {}", cell.stage);
    return fmt::format("stage {}, like rank {}", cell.stage, rank);
}

// `script_of` a stage.
template <class ScriptOf>
Step build(const Plan& plan, const Topology& topology, Folding folding, ScriptOf script_of) {
    std::vector<Script> scripts;
    for (std::uint32_t stage = 0; stage < plan.stages.size(); ++stage) scripts.push_back(script_of(stage));
    Families families(plan, topology, scripts);
    RankClasses classes = fold(plan, topology, families, folding);
    ProgramBuilder builder(lanes::names(), plan.device.interference);
    Groups groups(plan, families, classes, builder);
    Step step;
    for (const Cell& cell : classes.cells) {
        builder.begin_class(name_of(cell, classes), cell.representative, cell.weight);
        step.stage.push_back(cell.stage);
        place_script(scripts[cell.stage], cell, plan.job.faults.jitter, groups, builder);
    }
    step.folding = classes.folding;
    step.splits = std::move(classes.splits);
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
