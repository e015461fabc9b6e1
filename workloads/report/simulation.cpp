#include "workloads/report/simulation.hpp"

#include <utility>

namespace weft {
namespace {

template <class Build>
Simulation simulated(Plan plan, const SimulationOptions& options, Topology topology, Build build) {
    Simulation run{
        .options = options, .plan = std::move(plan), .topology = std::move(topology), .step = {}, .timeline = {}};
    run.step = build(run.plan, run.topology, options.folding);
    run.timeline = simulate(run.step.program, run.topology, options.network, options.recording);
    return run;
}

Topology topology_of(const Study& study) { return study.machine.topology(study.job.nodes, study.job.fabric); }

}  // namespace

Simulation simulate_step(const Study& study, Plan plan, const SimulationOptions& options) {
    return simulated(std::move(plan), options, topology_of(study), build_step);
}

Simulation simulate_step(Plan plan, const SimulationOptions& options, Topology topology) {
    return simulated(std::move(plan), options, std::move(topology), build_step);
}

Simulation simulate_start_up(const Study& study, Plan plan, const SimulationOptions& options) {
    return simulated(std::move(plan), options, topology_of(study), build_start_up);
}

}  // namespace weft
