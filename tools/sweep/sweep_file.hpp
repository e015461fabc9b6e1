// A sweep as a file (JSON, comments allowed), for studies that are worth keeping:
//   "job"    path of the job file, from the folder of this one
//   "set"    {"key": value}: for every point
//   "zip"    [{"key": values, "key": values}, ...]: keys that vary together, as many values each
//   "vary"   {"key": values}: keys that vary on their own, the last fastest; those of "zip" vary more slowly
//   "where"  "condition" or ["condition", ...]
// where values are a list, or a text as --vary takes it: "512..65536*2".
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/sweep/grid.hpp"

namespace weft {

struct SweepFile {
    std::filesystem::path job;
    std::vector<std::string> overrides;
    std::vector<Variation> zipped, varied;
    std::vector<std::string> conditions;
};

// Nothing if the file is a job: it has none of the keys above that a job does not have. Throws ConfigError with every
// mistake.
std::optional<SweepFile> read_sweep_file(const std::filesystem::path& path);

}  // namespace weft
