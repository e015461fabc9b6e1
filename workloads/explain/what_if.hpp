// What a step would take if something were otherwise: each change on its own, simulated.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/program/program.hpp"
#include "sim/topology/topology.hpp"
#include "workloads/explain/explanation.hpp"
#include "workloads/groups/prepared_topology.hpp"
#include "workloads/job.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {

// A change of one of three things that a step is made from; of the others it says nothing.
struct WhatIf {
    std::string knob;    // what is changed: "slingshot.global", "matrix products"
    std::string change;  // "2x faster", "10 % faster", "no latency", "none"
    std::function<void(Study&)> study{};
    std::function<void(Topology&)> topology{};
    std::function<void(Program&)> program{};
};

// Of what takes part of the critical path, or may: limits of the device, classes of links that traffic crosses,
// dimensions of communication, the pipeline's dependencies, recomputation, imbalance, interference, slow chips. What a
// job has not is left out.
std::vector<WhatIf> what_ifs(const Study& study, const ExplainedStep& step, const Explanation& explanation);

// The step's length with the change, on the topology of the study. A change of the program alone is made to `step`,
// which was built from the study with these options.
Seconds simulate_what_if(const WhatIf& change, const Study& study, const Step& step, const SimulationOptions& options,
                         PreparedTopology& prepared);

}  // namespace weft
