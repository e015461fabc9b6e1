// What a release of Megatron-LM lacks of a job, though weft models it.
#pragma once

#include <vector>

namespace weft {

struct Job;
struct JobError;

// Appends, by the key that asks for it, what the job's version has not, and the first that has.
void lacking_megatron_features(const Job& job, std::vector<JobError>& lacking);

}  // namespace weft
