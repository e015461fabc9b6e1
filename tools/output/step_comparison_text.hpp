// A recorded step beside a simulated one, for people and for machines.
#pragma once

#include <span>
#include <string>

#include "workloads/recorded/step_comparison.hpp"

namespace weft {

std::string step_comparison_text(const StepComparison& comparison);
// One object; of several traces a list of them under "traces". Seconds and bytes, pairs are [recorded, simulated].
std::string step_comparison_json(std::span<const StepComparison> comparisons);

// Of the simulated work in a time of either side: "612 TFLOP/s", "2.41 TB/s"; empty where there is none.
std::string rate_text(const ComparedWork& work, Side side);

}  // namespace weft
