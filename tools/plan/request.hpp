// What `weft plan` is asked, as a space of candidates.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/sweep/grid.hpp"
#include "workloads/exports/export.hpp"
#include "workloads/formats/job_file.hpp"
#include "workloads/search/plan_result.hpp"

namespace weft {

// A job file whose layout is open, and what is known of it.
struct PlanRequest {
    JobSource job;
    std::vector<std::string> overrides;  // "key.path=value"; of no knob
    std::vector<Variation> among;        // of knobs, and of any other key
};

struct PlanSpace {
    SearchSpace space;
    std::vector<std::vector<std::string>> base_assignments;  // by base: the other keys' values
};

// What the job file itself says about the knobs is passed over, but for overlaps and layout.split. Throws
// ConfigError for the job, std::invalid_argument for a value that a knob does not take or a knob among the overrides.
PlanSpace read_space(const PlanRequest& request);

// The job file with one candidate's layout as JSON text, to lie at `path`, without what follows from the rest of it.
// Relative paths of machine and model are rewritten to be found from there. Throws ConfigError if the job reader does
// not take it.
std::string job_text(const PlanRequest& request, const std::vector<std::string>& assignments,
                     const std::filesystem::path& path);

// What makes a layout that a search found a run: its job file, and what launches it.

// What the format launches the layout with. Throws ConfigError with what it cannot say.
std::string launch_text(const PlanRequest& request, const std::vector<std::string>& layout, const ExportFormat& format);

struct LaunchFiles {
    std::string job;     // JSON, to lie beside the request's job
    std::string format;  // name of that of `launch`; empty: there is none
    std::string launch;  // or why there is none
};

// In the format asked for; without one, in that of the framework's own name, or else the first that can say the job.
LaunchFiles launch_files(const PlanRequest& request, const std::vector<std::string>& layout,
                         const ExportFormat* asked = nullptr);

}  // namespace weft
