// What `weft run` is asked for beside the job.
#pragma once

#include <optional>

#include "tools/command.hpp"
#include "workloads/endurance/batch_ramp.hpp"
#include "workloads/endurance/run_plan.hpp"

namespace weft {

void add_run_options(po::options_description& options);

// Throws po::error.
RunTerms run_terms(const po::variables_map& arguments);
std::optional<BatchRamp> batch_ramp(const po::variables_map& arguments);
std::optional<double> price(const po::variables_map& arguments);

}  // namespace weft
