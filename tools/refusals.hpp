// Why a job has no result.
#pragma once

#include <boost/program_options.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "sim/io/diagnostics.hpp"
#include "workloads/job/job.hpp"
#include "workloads/plan/advice.hpp"
#include "workloads/plan/plan.hpp"

namespace weft {

std::string obstacle(const ConfigError& error);  // "layout.tensor: 12 heads ...; zero: ..."
std::string obstacle(const Plan& plan);          // "does not fit: stage 0 needs 123 GiB of 64.0 GiB"; empty if it fits

namespace po = boost::program_options;

// Why a plan that does not fit in memory is refused: the numbers, and what would fit. `remedy` follows the first
// line's.
std::string memory_refusal(const Plan& plan, const std::vector<MemoryAdvice>& advice, std::string_view remedy);
// Of a plan that does not fit in memory: says so on stderr, with the numbers and what would fit. Returns whether it
// is not to be simulated. `advice`: memory_advice() of such a plan.
bool refused_for_memory(const po::variables_map& arguments, const Plan& plan, const std::vector<MemoryAdvice>& advice);
bool refused_for_memory(const po::variables_map& arguments, const Study& study, const Plan& plan);

}  // namespace weft
