// What to change about a job that does not fit in memory, tried and not guessed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "workloads/plan/plan.hpp"

namespace weft {

// Settings changed together, and what the fullest stage then needs.
struct MemoryAdvice {
    std::vector<std::string> changes;  // "recompute=selective", ...: as --set takes them
    Bytes peak;
    Bytes saved;        // against the job as it is
    bool fits = false;  // as expected, not only at the least
};

// Single changes that help, those that suffice first, then by what they cost a step: recomputation after layouts, full
// recomputation last. If none suffices, a combination follows that was made by taking the best change again and again.
// Every one passes check_job; data ranks make room for tensor and pipeline ranks, so that the ranks stay the same.
std::vector<MemoryAdvice> memory_advice(const Study& study);

// The largest part of what a rank of the stage holds: its name, as the report has it, and its bytes.
struct LargestPart {
    std::string_view name;
    Bytes bytes;
};
LargestPart largest_part(const MemoryUse& use);

}  // namespace weft
