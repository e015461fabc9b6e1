// Jobs side by side: what they say differently, and the difference in step time by cause.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/explain/job_explanation.hpp"

namespace weft {

// The time of one cause on each job's critical path, in ticks.
struct ComparedCause {
    Cause cause;
    std::vector<std::int64_t> ticks;
};

// A key whose values differ between jobs, as JSON text; empty: absent.
struct ComparedInput {
    std::string key;
    std::vector<std::string> values;
};

struct JobComparison {
    std::vector<std::string> names;
    std::vector<JobExplanation> jobs;
    std::vector<ComparedCause> causes;  // by job, they sum to its step; the largest difference to the first job first
    std::vector<ComparedInput> inputs;
};

struct ComparedJob {
    std::string name;
    JobFile file;
};

// At least two. Throws ConfigError.
JobComparison compare_jobs(const std::vector<ComparedJob>& jobs, const ExplainOptions& options);

}  // namespace weft
