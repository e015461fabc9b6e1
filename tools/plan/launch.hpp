// What makes a layout that a search found a run: its job file, and what launches it.
#pragma once

#include <string>
#include <vector>

#include "tools/plan/request.hpp"
#include "workloads/exports/export.hpp"

namespace weft {

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
