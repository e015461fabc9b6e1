#include "workloads/report/simulation.hpp"

#include <utility>

namespace weft {

Simulation simulate_step(const Study& study, Plan plan, const SimulationOptions& options) {
    Simulation run{.options = options,
                   .plan = std::move(plan),
                   .topology = study.machine.topology(study.job.nodes),
                   .step = {},
                   .timeline = {}};
    run.step = build_step(run.plan, run.topology, options.folding);
    run.timeline = simulate(run.step.program, run.topology, options.network, options.recording);
    return run;
}

}  // namespace weft
