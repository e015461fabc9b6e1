#include "workloads/step/step_builder.hpp"

#include <fmt/format.h>

#include "workloads/stage/stage_script.hpp"

namespace weft {
namespace {

// Whether the next cell is of the same stage, whose cells are neighbours.
bool stage_goes_on(const RankClasses& classes, std::size_t number) {
    return number + 1 < classes.cells.size() && classes.cells[number + 1].stage == classes.cells[number].stage;
}

std::string name_of(const RankClasses& classes, std::size_t number) {
    const Cell& cell = classes.cells[number];
    const auto rank = static_cast<std::uint32_t>(cell.representative);
    if (classes.folding == Folding::none) return fmt::format("rank {} (stage {})", rank, cell.stage);
    const bool has_before = number > 0 && stage_goes_on(classes, number - 1);
    if (!has_before && !stage_goes_on(classes, number)) return fmt::format("stage {}", cell.stage);
    return fmt::format("stage {}, like rank {}", cell.stage, rank);
}

// What a step is made from: scripts by stage, and the ranks that one stands for.
struct Parts {
    std::vector<Script> scripts;
    Families families;
    RankClasses classes{};
    std::optional<StepSize> size{}, exact{};  // of these classes, once asked; Step::exact
};

const StepSize& size_of(Parts& parts, const Plan& plan, const Topology& topology, const StepOptions& options) {
    if (!parts.size) {
        parts.size = size_of(plan, parts.scripts, parts.classes, parts.families, topology);
        parts.size->is_written_out = options.is_written_out;
    }
    return *parts.size;
}

// Whether ranks are folded exactly, as they are then.
bool fold_exactly(Parts& parts, const Plan& plan, const Topology& topology, const StepOptions& options) {
    if (plan.job.layout.ranks() > exact_where.ranks) return false;
    parts.classes = fold(plan, topology, parts.families, Folding::exact);
    const StepSize& size = size_of(parts, plan, topology, options);
    if (size.time() <= exact_where.time && size.memory() <= exact_where.memory) return true;
    parts.exact = std::exchange(parts.size, {});
    return false;
}

// `script_of` a stage.
template <class ScriptOf>
Parts parts_of(const Plan& plan, CostsPool& pool, const StepOptions& options, ScriptOf script_of) {
    std::vector<Script> scripts;
    for (std::uint32_t stage = 0; stage < plan.stages.size(); ++stage) scripts.push_back(script_of(stage));
    Families families(plan, pool, scripts);
    Parts parts{std::move(scripts), std::move(families)};
    const bool automatic = options.folding == Folding::automatic;
    if (automatic && fold_exactly(parts, plan, pool.topology(), options)) return parts;
    parts.classes = fold(plan, pool.topology(), parts.families, automatic ? Folding::stages : options.folding);
    return parts;
}

Step build(const Plan& plan, CostsPool& pool, const StepOptions& options, Parts parts) {
    if (options.on_size) options.on_size(size_of(parts, plan, pool.topology(), options));
    auto& [scripts, families, classes, size, exact] = parts;
    ProgramBuilder builder(lanes::names(), plan.device.interference);
    GroupSets groups(plan, families, classes, builder);
    builder.reserve(sum_of<std::size_t>(scripts, [](const Script& script) { return script.actions().size(); }));
    ScriptPlacer placer(groups, builder);
    Step step;
    for (std::size_t number = 0; number < classes.cells.size(); ++number) {
        const Cell& cell = classes.cells[number];
        placer.place(scripts[cell.stage], cell, name_of(classes, number));
        step.stage.push_back(cell.stage);
        if (!stage_goes_on(classes, number)) scripts[cell.stage] = {};
    }
    step.work_origins = std::move(placer).take_origins();
    step.folding = classes.folding;
    step.exact = exact;
    step.splits = std::move(classes.splits);
    step.class_of_rank = std::move(classes.of_rank);
    step.program = builder.finish();
    step.program.jitter = plan.job.faults.jitter;
    if (options.merges_equal_links) step.equal_links = merge_equal_links(pool.topology(), step.program.patterns);
    return step;
}

Parts parts_of_step(const Plan& plan, CostsPool& pool, const StepOptions& options) {
    const auto script_of = [&](std::uint32_t stage) { return step_script(plan, stage, plan.job.step); };
    return parts_of(plan, pool, options, script_of);
}

}  // namespace

Step build_step(const Plan& plan, CostsPool& pool, const StepOptions& options) {
    return build(plan, pool, options, parts_of_step(plan, pool, options));
}

Step build_start_up(const Plan& plan, CostsPool& pool, const StepOptions& options) {
    const auto script_of = [&](std::uint32_t stage) { return start_up_script(plan, stage); };
    return build(plan, pool, options, parts_of(plan, pool, options, script_of));
}

SizedStep size_step(const Plan& plan, CostsPool& pool, const StepOptions& options) {
    Parts parts = parts_of_step(plan, pool, options);
    return {size_of(parts, plan, pool.topology(), options), parts.classes.folding};
}

}  // namespace weft
