// Pages about one job, as commands write them with --report and `weft serve` sends them.
#pragma once

#include <string>
#include <vector>

#include "tools/explain/job_explanation.hpp"
#include "tools/page/sources.hpp"
#include "tools/page/timeline_part.hpp"
#include "tools/plan/request.hpp"
#include "workloads/exports/export.hpp"
#include "workloads/search/plan_result.hpp"

namespace weft {

// Of `weft simulate`: the step with its critical path.
std::string step_page(const Study& study, const ExplainedStep& step, const Report& report, const JobInput& input,
                      const TimelineLimits& limits = {});
// Of `weft explain`. `simulate`: the command line that settings are added to.
std::string explained_page(const JobExplanation& explained, const JobInput& input, const std::string& simulate);

// How a search was asked for.
struct SearchCommands {
    std::string plan;                      // as it was typed
    std::string simulate;                  // that a layout is added to
    const ExportFormat* launch = nullptr;  // of the scripts; null: that of the framework
};
// Of `weft plan`.
std::string search_page(const PlanRequest& request, const PlanResult& result, const SearchCommands& commands);

// The layout of this place among the simulated ones, the best first, as assignments.
std::vector<std::string> simulated_layout(const PlanResult& result, std::size_t place);

}  // namespace weft
