#include "workloads/explain/device_twin.hpp"

#include <algorithm>
#include <string>

#include "workloads/plan/plan_parts.hpp"
#include "workloads/stage/stage_script.hpp"

namespace weft {
namespace {

bool do_the_same(const Script& a, const Script& b) {
    return std::ranges::equal(a.actions(), b.actions(), [](const Action& left, const Action& right) {
        return left.kind == right.kind && left.subject == right.subject && left.after == right.after;
    });
}

}  // namespace

DeviceTwins::DeviceTwins(const Plan& plan, const Step& step) : plan_(plan), step_(step) {
    for (const WorkOrigin& origin : step.work_origins) {
        if (scripts_.contains(origin.stage)) continue;
        scripts_.emplace(origin.stage, step_script(plan, origin.stage, plan.job.step));
    }
}

std::optional<std::vector<Seconds>> DeviceTwins::work(const Study& study) const {
    Plan twin = empty_plan(study);
    twin.costs = part_costs(twin);
    twin.host_bound = plan_.host_bound || host_bound(twin);  // with the host's pace if it may matter
    twin.stages = plan_.stages;
    std::string why;
    const std::vector<std::uint32_t> layers = plan_.job.part_layers(why);
    std::map<std::uint32_t, Script> scripts;
    for (const auto& [stage, script] : scripts_) {
        twin.stages[stage].optimizer = make_stage(twin, stage, layers).optimizer;
        const Script& other = scripts.emplace(stage, step_script(twin, stage, twin.job.step)).first->second;
        if (!do_the_same(script, other)) return std::nullopt;
    }
    std::vector<Seconds> work = step_.program.work;
    for (std::size_t i = 0; i < work.size(); ++i) {
        const auto [stage, number] = step_.work_origins[i];
        const Seconds own = scripts_.at(stage).work()[number], other = scripts.at(stage).work()[number];
        work[i] = own.value > 0.0 ? work[i] * (other / own) : other;
    }
    return work;
}

}  // namespace weft
