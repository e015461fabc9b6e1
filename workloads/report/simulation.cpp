#include "workloads/report/simulation.hpp"

#include <utility>

namespace weft {
namespace {

template <class Build>
Simulation simulated(Plan plan, const SimulationOptions& options, std::unique_ptr<PreparedTopology> prepared,
                     Build build) {
    Simulation run{
        .options = options, .plan = std::move(plan), .prepared = std::move(prepared), .step = {}, .timeline = {}};
    run.step = build(run.plan, run.prepared->costs(run.plan), options.folding);
    run.timeline = simulate(run.step.program, run.topology(), options.network, options.recording);
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
