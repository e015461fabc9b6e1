// How unevenly experts are loaded where a run does not say it.
#pragma once

#include <string>
#include <vector>

#include "workloads/job/job.hpp"

namespace weft {

// Tokens of the busiest expert rank over the mean, as the job's balancing leaves it: 1 + V / sqrt(m), with the
// load of the busiest expert over the mean, less 1, measured as V, and m experts on a rank, which are taken to be busy
// independently of one another (assumption).
//   auxiliary_loss  V = 0.52     bias  V = 0.04     (MaxVio of 3B models of 64 experts trained with either: Wang et al.
//                                                   2024, 2408.15664, table 2 [from memory])
//                                                   losses of sequences or of all ranks are taken to do as well; with a
//                                                   bias beside a loss the bias counts
//   even            V = 0        forced, as benchmarks do, or taken to be
double usual_imbalance(const Job& job);

// What follows from balancing, layout and model: the imbalance where it is assumed, and that of each layer where tokens
// of experts are given: of ranks that hold equal runs of them, the busiest decides. Prediction modules that are not
// among the layers have the mean.
void settle_imbalance(Job& job);

// Appends why layers' imbalances do not fit the model.
void check_imbalance(const Job& job, std::vector<JobError>& errors);

// What is assumed, for people; empty where the job says it.
std::string imbalance_assumption(const Job& job);

}  // namespace weft
