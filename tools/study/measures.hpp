// What figures show of a job. Where a job cannot run, the value is missing and the note says why.
#pragma once

#include "tools/study/study_figure.hpp"

namespace weft::measures {

// Seconds of one step, mean over ranks: computation, communication that nothing hides, by dimension, and waiting.
std::vector<Measured> step_breakdown(const StudyJob& job);

// Bytes of rank 0 per collective: start-up and one steady step; the step alone.
std::vector<Measured> run_volume_by_collective(const StudyJob& job);
std::vector<Measured> volume_by_collective(const StudyJob& job);
// Of them, the calls that DeepSpeed's logger sees: tensor-parallel reductions and batch broadcasts go past it.
std::vector<Measured> logged_volume_by_collective(const StudyJob& job);
// Of rank 0 in one steady step, by the sizes that the logger prints: shards of gathers, and reductions in groups of
// one.
std::vector<Measured> logged_sizes_by_collective(const StudyJob& job);
std::vector<Measured> total_volume(const StudyJob& job);  // of rank 0 in one steady step

// All-gathers of rank 0 in one steady step by the size that the logger shows, the shard: calls per power of two.
std::vector<Measured> all_gather_sizes(const StudyJob& job);

// Bytes per step as the study's equations have them and as the framework's calls add up.
std::vector<Measured> data_parallel_theory(const StudyJob& job);  // equations 2 and 3: rank 0
std::vector<Measured> pipeline_theory(const StudyJob& job);       // equation 4: sends of all stages
std::vector<Measured> tensor_theory(const StudyJob& job);         // equation 5: tensor-parallel all-reduces, rank 0

// Bytes of rank 0 in one steady step.
std::vector<Measured> all_gather_volume(const StudyJob& job);
std::vector<Measured> receive_volume(const StudyJob& job);
std::vector<Measured> send_volume(const StudyJob& job);

// Seconds of each receive of rank 0 as the logger has them, in the job's kind of step: "1: 72 B", "2: 16 MiB", ...
std::vector<Measured> receive_times(const StudyJob& job);

// TFLOP/s per GCD that GPT-NeoX would print: recomputation counts.
std::vector<Measured> throughput(const StudyJob& job);

}  // namespace weft::measures
