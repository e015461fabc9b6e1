// Why a job has no result.
#pragma once

#include <boost/program_options.hpp>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/base/quantity.hpp"
#include "sim/io/diagnostics.hpp"
#include "tools/command.hpp"
#include "workloads/job/job.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {

std::string obstacle(const ConfigError& error);  // "layout.tensor: 12 heads ...; zero: ..."
std::string obstacle(const Plan& plan);          // "does not fit: stage 0 needs 123 GiB of 64.0 GiB"; empty if it fits

// Why a plan that does not fit in memory is refused: the numbers, and what would fit. `remedy` follows the first
// line's.
std::string memory_refusal(const Plan& plan, const std::vector<MemoryAdvice>& advice, std::string_view remedy);
// Of a plan that does not fit in memory: says so on stderr, with the numbers and what would fit. Returns whether it
// is not to be simulated. `advice`: memory_advice() of such a plan.
bool refused_for_memory(const po::variables_map& arguments, const Plan& plan, const std::vector<MemoryAdvice>& advice);
bool refused_for_memory(const po::variables_map& arguments, const Study& study, const Plan& plan);

// What a simulation takes of the machine that runs it: told, and refused, before its tables are made.

// A step is larger than the memory it may take. what() has the numbers.
struct TooLarge : RangeError {
    TooLarge(const StepSize& step, Bytes most);
    StepSize size;
    Bytes limit;
};

// --memory-limit: what each of so many simulations at a time may take. Without the option most of what the machine has
// free. Throws OptionError where it is no size.
Bytes memory_limit(const po::variables_map& arguments, unsigned at_a_time = 1);
// Throws TooLarge above the limit.
SizeListener refuse_above(Bytes limit);

// --network, --fold and --memory-limit of the commands that simulate. `page`: the file that shows links over time;
// empty: there is none.
SimulationOptions simulation_options(const po::variables_map& arguments, std::string_view page = {},
                                     unsigned at_a_time = 1);

// "about 0.3 s and 140 MiB: 32 classes of 128 ranks, 22,100 operations, ..."
std::string size_text(const StepSize& size);
std::string size_json(const SizedStep& step);

// After a refusal: other foldings and smaller batches of the job that keep to the limit, a line each.
std::string what_would_fit(const po::variables_map& arguments, Folding asked, const TooLarge& refused);

// What the machine has available, or what the control groups of the process leave it, if that is less (both versions of
// Linux: man 7 cgroups). Pages of files that can be dropped count as free. Infinite where neither says anything.
// `root`: where /proc and /sys are.
Bytes free_memory(const std::filesystem::path& root = "/");

}  // namespace weft
