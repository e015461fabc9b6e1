#include "workloads/step/step_builder.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

#include "sim/program/program_builder.hpp"
#include "workloads/step/families.hpp"
#include "workloads/step/groups.hpp"
#include "workloads/step/lanes.hpp"
#include "workloads/step/script_placer.hpp"
#include "workloads/step/stage_script.hpp"

namespace weft {

namespace {

// Cells of a stage are neighbours.
std::string name_of(const RankClasses& classes, std::size_t number) {
    const Cell& cell = classes.cells[number];
    const auto rank = static_cast<std::uint32_t>(cell.representative);
    if (classes.folding == Folding::none) return fmt::format("rank {} (stage {})", rank, cell.stage);
    const bool has_before = number > 0 && classes.cells[number - 1].stage == cell.stage;
    const bool has_after = number + 1 < classes.cells.size() && classes.cells[number + 1].stage == cell.stage;
    if (!has_before && !has_after) return fmt::format("stage {}", cell.stage);
    return fmt::format("stage {}, like rank {}", cell.stage, rank);
}

// Up to here, groups that are others moved are told as fast, and candidates of a search share their costs.
constexpr std::uint32_t most_ranks_listed = 1024;

bool may_sample(const Plan& plan, const Topology& topology, Folding folding, Links links) {
    const std::uint32_t ranks = plan.job.layout.grid().ranks();
    if (links == Links::all || (links == Links::automatic && ranks <= most_ranks_listed)) return false;
    const Faults& faults = plan.job.faults;
    return resolved(folding, ranks) == Folding::stages && faults.slow.empty() && !has_jitter(faults) &&
           SampledCosts::serves(topology);
}

// `script_of` a stage.
template <class ScriptOf>
Step build(const Plan& plan, CostsPool& pool, Folding folding, Links links, ScriptOf script_of) {
    std::vector<Script> scripts;
    for (std::uint32_t stage = 0; stage < plan.stages.size(); ++stage) scripts.push_back(script_of(stage));
    std::optional<SampledCosts> sampled;
    std::unique_ptr<Families> families;
    if (may_sample(plan, pool.topology(), folding, links)) {
        sampled.emplace(pool.topology(), pool.library(),
                        links == Links::sample ? Sampling::wherever_possible : Sampling::where_it_pays);
        families = Families::sampled(plan, *sampled, scripts);
    }
    const bool is_sampled = families != nullptr;
    if (!is_sampled) families = std::make_unique<Families>(plan, pool, scripts);
    RankClasses classes =
        is_sampled ? one_class_per_stage(plan, *families) : fold(plan, pool.topology(), *families, folding);
    ProgramBuilder builder(lanes::names(), plan.device.interference);
    std::size_t ops = 0;
    for (const Cell& cell : classes.cells) ops += scripts[cell.stage].actions().size();
    builder.reserve(ops);
    Groups groups(plan, *families, classes, builder);
    Step step;
    step.is_sampled = is_sampled;
    for (std::size_t number = 0; number < classes.cells.size(); ++number) {
        const Cell& cell = classes.cells[number];
        builder.begin_class(name_of(classes, number), cell.representative, cell.weight);
        step.stage.push_back(cell.stage);
        place_script(scripts[cell.stage], cell, plan.job.faults.jitter, groups, builder);
    }
    step.folding = classes.folding;
    step.splits = std::move(classes.splits);
    step.program = builder.finish();
    if (is_sampled) step.program.link_weights = sampled->sample().link_weights();
    return step;
}

}  // namespace

Step build_step(const Plan& plan, CostsPool& pool, Folding folding, Links links) {
    return build(plan, pool, folding, links,
                 [&](std::uint32_t stage) { return step_script(plan, stage, plan.job.step); });
}

Step build_start_up(const Plan& plan, CostsPool& pool, Folding folding, Links links) {
    return build(plan, pool, folding, links, [&](std::uint32_t stage) { return start_up_script(plan, stage); });
}

}  // namespace weft
