#include "workloads/report/simulation.hpp"

#include <utility>

#include "sim/engine/unfold.hpp"

namespace weft {
namespace {

template <class Build>
Simulation simulated(Plan plan, const SimulationOptions& options, std::unique_ptr<PreparedTopology> prepared,
                     Build build) {
    Simulation run{
        .options = options, .plan = std::move(plan), .prepared = std::move(prepared), .step = {}, .timeline = {}};
    run.step = build(run.plan, run.prepared->costs(run.plan), options.folding);
    run.timeline = simulate(run.step.program, run.topology(), options.network, options.recording);
    if (options.kept == Kept::ops && !run.step.program.routines.empty()) {
        run.timeline = unfold(run.step.program, std::move(run.timeline));
        run.step.program = unfold(run.step.program);
    }
    return run;
}

}  // namespace

Simulation simulate_step(const Study& study, Plan plan, const SimulationOptions& options) {
    return simulated(std::move(plan), options, prepare(study), build_step);
}

Simulation simulate_step(Plan plan, const SimulationOptions& options, std::unique_ptr<PreparedTopology> prepared) {
    return simulated(std::move(plan), options, std::move(prepared), build_step);
}

Simulation simulate_start_up(const Study& study, Plan plan, const SimulationOptions& options) {
    return simulated(std::move(plan), options, prepare(study), build_start_up);
}

}  // namespace weft
