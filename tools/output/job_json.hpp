// A job as data: what it came to, key by key, as a job file would say it.
#pragma once

#include <string>
#include <vector>

#include "tools/output/json_text.hpp"
#include "topologies/machine.hpp"
#include "workloads/job/job.hpp"

namespace weft {

// How the job was asked for.
struct JobRecord {
    std::vector<std::string> overrides;  // "key.path=value", of the command line
    std::string digest;                  // of all inputs
};

Json model_json(const Transformer& model);

// Keys and words are those of a job file; "model" and "machine" are objects, and figures that follow stand beside what
// they follow from.
Json job_json(const Job& job, const MachineInfo& machine, const JobRecord& record);

}  // namespace weft
