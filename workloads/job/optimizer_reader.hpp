// The "optimizer" of a job file: a word, or an object.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "sim/io/document.hpp"
#include "workloads/job/job.hpp"

namespace weft {

OptimizerSettings read_optimizer(Field& root);
nlohmann::ordered_json optimizer_json(const OptimizerSettings& optimizer);
// Appends what the framework, or this version of it, cannot do.
void check_optimizer(const Job& job, const MachineInfo& machine, std::vector<JobError>& errors);

}  // namespace weft
