#include "workloads/report/simulation.hpp"

#include <utility>

namespace weft {
namespace {

template <class Build>
Simulation simulated(const Study& study, Plan plan, const SimulationOptions& options, Build build) {
    Simulation run{.options = options,
                   .plan = std::move(plan),
                   .topology = study.machine.topology(study.job.nodes, study.job.fabric),
                   .step = {},
                   .timeline = {}};
    run.step = build(run.plan, run.topology, options.folding);
    run.timeline = simulate(run.step.program, run.topology, options.network, options.recording);
    return run;
}

}  // namespace

Simulation simulate_step(const Study& study, Plan plan, const SimulationOptions& options) {
    return simulated(study, std::move(plan), options, build_step);
}

Simulation simulate_start_up(const Study& study, Plan plan, const SimulationOptions& options) {
    return simulated(study, std::move(plan), options, build_start_up);
}

}  // namespace weft
