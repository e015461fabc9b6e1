// What torchtitan composes with fully_shard, and what is not simulated of it.
#pragma once

#include <vector>

namespace weft {

struct Job;
struct JobError;

void check_composition(const Job& job, std::vector<JobError>& errors);

}  // namespace weft
