// Jobs that share a machine, as a file (JSON, comments allowed): {"jobs": [...]}, of which each has
//   "job"        path of the job file, from the folder of this one
//   "name"       what results call it; the job file's name by default
//   "placement"  its nodes, as the job's own fabric.placement; those of jobs without one are the lowest that are free
//   "start"      when its first step begins, as "1.5 s"; 0 s by default
//   "set"        {"key": value}: other values of the job's keys
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "workloads/formats/format.hpp"
#include "workloads/sharing/sharing.hpp"

namespace weft {

struct SharingFile {
    std::vector<PlacedJob> jobs;  // each on nodes of its own
    std::vector<FormatNote> notes;
};

// With "key=value" overrides, as "jobs[1].placement=group:2". Throws ConfigError with every mistake in this file and
// its jobs, and where jobs cannot run beside one another: of several machines, or on a node that another one has.
SharingFile read_sharing_file(const std::filesystem::path& path, std::span<const std::string> overrides = {});

}  // namespace weft
