// The report for people: one screen.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/output/json_text.hpp"
#include "tools/output/result_table.hpp"
#include "topologies/fabric.hpp"
#include "workloads/plan/advice.hpp"
#include "workloads/report/report.hpp"

namespace weft {

std::string report_text(const Report& report);
// Its first lines: what was simulated, and what of it cannot be run.
std::string subject_text(const Report& report);

// Stages with their times and their memory, what was sent, and how busy links were: for people, programs and pages.
ResultTable stage_table(std::span<const StageReport> stages);
ResultTable memory_table(std::span<const StageReport> stages);
ResultTable communication_table(const Report& report);
ResultTable link_table(std::span<const LinkReport> links);
ResultTable hot_links_table(std::span<const HotLink> links);

// What other traffic takes of a fabric: "slingshot.local 75 % (a packet waits 1.5 times its own time), ..."; "" if
// there is none. For programs an entry for each class of links.
std::string background_text(const Fabric& fabric);
Json background_json(const Fabric& fabric);

// "fits"; where that depends on what the allocator makes of it, "may not fit: needs 36.1 to 41.0 GiB"; "DOES NOT FIT".
std::string memory_verdict(const Report& report);

// How many ranks were simulated for all, and why not fewer.
std::string folding_text(const Report& report);

// Why a plan does not fit: per stage what it needs of what, against what the device has.
std::string memory_text(const Plan& plan);

// The largest part of the fullest stage, and what to change: one line each, the first what to try first.
std::string advice_text(const Plan& plan, const std::vector<MemoryAdvice>& advice);

}  // namespace weft
