// A sweep as a job array of Slurm: one shard a task, and a job behind them that merges.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace weft {

struct Submission {
    std::filesystem::path sweep, out;  // job or sweep file, table to write
    std::uint32_t shards = 1;
    std::vector<std::string> options;  // of weft sweep, for each shard
};

// Writes the script of tools/slurm beside the shards, in `out`.shards, and gives it to sbatch, which says on stdout
// what became of it. Throws std::runtime_error: there is no sbatch, or it refuses.
void submit_to_slurm(const Submission& submission);

}  // namespace weft
