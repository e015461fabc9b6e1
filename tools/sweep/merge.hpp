// One table of the shards of a sweep.
#pragma once

#include <filesystem>
#include <vector>

#include "tools/sweep/row_file.hpp"

namespace weft {

struct MergedRows {
    std::string job;
    SweepInputs inputs;
    ResultTable table;
};

// Throws ConfigError with every mistake: files that are no shards, not complete, of other inputs or another number of
// shards than the first; shards twice or missing.
MergedRows merge_shards(const std::vector<std::filesystem::path>& paths);

}  // namespace weft
