// The settings one step away from a job's: read, screened in closed form, and simulated where asked.
#pragma once

#include <memory>
#include <vector>

#include "tools/explain/job_explanation.hpp"
#include "workloads/groups/prepared_topology.hpp"
#include "workloads/job/job.hpp"

namespace weft {

struct OtherJob {
    ExplainedSetting setting;  // with its memory and, if it fits, its step in closed form
    Study study;
    Seconds foreseen{};  // that step, whatever a simulation puts in its place
    // Whether the closed form cannot tell it from the job itself, and sees all that is different.
    bool is_equal = false;
};

// The alternatives that are other jobs, that the reader takes, and that can be run where the job itself can, in the
// order of alternatives(). The closed form is taken to err as it does of the job itself, whose step is `own`.
std::vector<OtherJob> other_jobs(const JobFile& file, const Study& study, const Topology& topology, Seconds own);

// Puts what it simulates in place of the closed form. `prepared`: the study's, and again afterwards.
void simulate_setting(OtherJob& other, const Study& study, const SimulationOptions& options,
                      std::unique_ptr<PreparedTopology>& prepared);

}  // namespace weft
