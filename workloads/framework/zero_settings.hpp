// Which of DeepSpeed's ZeRO settings mean something to which stage, and what ZeRO++ asks of the layout.
#pragma once

#include <vector>

namespace weft {

struct Job;
struct JobError;

// Refuses settings, given other than by default, that the job's ZeRO stage does not read.
void check_zero_settings(const Job& job, std::vector<JobError>& errors);

}  // namespace weft
