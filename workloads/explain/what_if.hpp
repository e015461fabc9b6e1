// What could be otherwise about a step or its job, and what the step would then take: each change on its own, foreseen
// or simulated.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/engine/replay.hpp"
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

// Settings that a job could have instead of what it has, one step away: the next value of every knob of a search, and
// what frameworks can switch besides.
struct Alternative {
    std::vector<std::string> assignments;  // "layout.tensor=8", ...: with these the job file is the other job's
    bool changes_numerics = false;         // what is computed is not the same to rounding
};

// Whether they are another job's at all, and one that can be run, the job reader tells.
std::vector<Alternative> alternatives(const Job& job);

// What a change of a step would give, without simulating it.
class Foresight {
  public:
    // All must outlive this; `devices` and `explanation` of the step.
    Foresight(const Study& study, const ExplainedStep& step, const OtherDevices& devices,
              const Explanation& explanation);

    // What ops would take, what is shared aside; nothing of a change that makes another program.
    std::optional<OtherTimes> times(const WhatIf& change) const;

    // The step if its path stayed its path. Where all ops become shorter it is not shorter than that.
    Seconds first_order(const OtherTimes& times) const;
    // With whatever path is then the longest.
    Seconds replayed(const OtherTimes& times) const;
    // By how much the step could be shorter still because less is shared: at most as much as the links are faster.
    Seconds undecided(const WhatIf& change) const;

  private:
    std::vector<std::int64_t> longer_transfers(const LinkClassTable& links) const;
    OtherTimes program_times(const WhatIf& change) const;

    const Study& study_;
    const ExplainedStep& step_;
    const OtherDevices& devices_;
    const Explanation& explanation_;
    Replay replay_;
};

}  // namespace weft
