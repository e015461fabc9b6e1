// What could be otherwise about a step, and what the step would then take: each change on its own, simulated.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/program/program.hpp"
#include "sim/topology/topology.hpp"
#include "workloads/explain/explanation.hpp"
#include "workloads/explain/path_causes.hpp"
#include "workloads/groups/prepared_topology.hpp"
#include "workloads/job/job.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {

using LinkClassTable = Table<LinkClassId, LinkClass>;

// A change of one of four things that a step is made from; of the others it says nothing.
struct WhatIf {
    std::string knob;    // what is changed: "slingshot.global", "matrix products"
    std::string change;  // "2x faster", "10 % faster", "none"
    std::function<void(Device&)> device{};
    std::function<void(LinkClassTable&)> links{};
    std::function<void(Program&)> program{};
    std::function<void(Study&)> study{};  // makes another program
    bool slight = false;                  // so that the path stays the path, or nearly
};

// Of what takes part of the critical path, or may: limits of the device, classes of links, dimensions of communication,
// the pipeline's dependencies, recomputation, imbalance, interference, slow chips. What a job has not is left out.
std::vector<WhatIf> what_ifs(const Study& study, const ExplainedStep& step, const Explanation& explanation);

// The step's length with the change. `devices`: of `step`, which was built from the study with these options. But for a
// change of the study it does what it did, by the same algorithms.
Seconds simulate_what_if(const WhatIf& change, const Study& study, const Step& step, const OtherDevices& devices,
                         const SimulationOptions& options, PreparedTopology& prepared);

}  // namespace weft
