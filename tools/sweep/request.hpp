// What a sweep is asked to do: on the command line, as a file, and as the hash of all that its rows follow from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/command.hpp"
#include "tools/sweep/grid.hpp"
#include "workloads/formats/job_file.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {

// Part i of n: every n-th row of the table, from row i - 1, so that neighbours, which cost about the same, are in
// different ones.
struct SweepShard {
    std::uint32_t number = 1, of = 1;
    bool operator==(const SweepShard&) const = default;
};

// "3/8". Throws std::invalid_argument.
SweepShard parse_shard(std::string_view text);

struct SweepRequest {
    JobSource job;
    std::vector<std::string> overrides;  // "key=value", for every point
    SweepGrid grid{{}};
    std::vector<std::string> conditions;  // a point must hold for all of them
    SimulationOptions simulation{.kept = Kept::sums};
};

// The points of the grid that the conditions hold for, ascending. Throws std::invalid_argument with the reason: a
// condition that cannot be read, or evaluated at some point, or none that any point holds for.
std::vector<std::size_t> points_of(const SweepRequest& request);

// The hash of all that the rows of a sweep follow from, part by part, so that a difference can be named.
struct SweepInputs {
    std::vector<std::pair<std::string, std::string>> parts;  // "job text", ...: each with its hash
    bool operator==(const SweepInputs&) const = default;

    std::string digest() const;
    // The parts in which `other` differs, for a message: "job text, grid".
    std::string difference(const SweepInputs& other) const;
};

// Reads the job's file and every file that the job or a varied value names. Throws ConfigError: unreadable.
SweepInputs inputs_of(const SweepRequest& request);

// A sweep as a file (JSON, comments allowed), for studies that are worth keeping:
//   "job"    path of the job file, from the folder of this one
//   "set"    {"key": value}: for every point
//   "zip"    [{"key": values, "key": values}, ...]: keys that vary together, as many values each
//   "vary"   {"key": values}: keys that vary on their own, the last fastest; those of "zip" vary more slowly
//   "where"  "condition" or ["condition", ...]
// where values are a list, or a text as --vary takes it: "512..65536*2".
struct SweepFile {
    std::filesystem::path job;
    std::vector<std::string> overrides;
    std::vector<Variation> zipped, varied;
    std::vector<std::string> conditions;
};

// Nothing if the file is a job: it has none of the keys above that a job does not have. Throws ConfigError with every
// mistake.
std::optional<SweepFile> read_sweep_file(const std::filesystem::path& path);

enum class Resume : std::uint8_t { no, yes };

struct SweepSettings {
    std::optional<std::filesystem::path> out;  // beside it the journal is kept; absent: none is
    Resume resume = Resume::no;
    SweepShard shard;
    std::function<bool()> stopped = [] { return false; };
    // From any thread, one at a time; first with those that the journal has.
    std::function<void(std::size_t done, std::size_t rows)> progress = [](std::size_t, std::size_t) {};
};

// From the job or sweep file, --vary, --zip, --where and --set. Throws OptionError, ConfigError.
SweepRequest sweep_request(const po::variables_map& arguments);

// From --out, --shard and --resume; without a crew's settings. Throws OptionError.
SweepSettings sweep_settings(const po::variables_map& arguments);

}  // namespace weft
