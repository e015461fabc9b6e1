// A measured run as a validation row: the job's keys, and under `run` what was published of how it was run:
//
//   days checkpoint_every asynchronous spares detection stop launch
//
// as the options of `weft run` mean them. What it measures, as means over runs that are played:
//
//   run.goodput run.interruptions run.failures run.hardware run.software run.planned
//   run.between_failures_s run.checkpoint_s run.load_s    as planned: mean time between failures, a checkpoint, loading
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sim/io/document.hpp"
#include "tools/validate/set.hpp"
#include "workloads/endurance/run_figures.hpp"
#include "workloads/job/job.hpp"

namespace weft {

struct RunRequest {
    Study study;
    RunTerms terms;
};

bool is_of_run(std::string_view quantity);

// Throws ConfigError with every mistake.
RunRequest read_run(const Document& document);

// Throws RangeError: the run gets nowhere, or has no such quantity.
std::vector<double> predicted_run(const RunRequest& request, std::span<const PublishedValue> measured);

}  // namespace weft
