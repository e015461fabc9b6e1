// The report for people: one screen.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/io/diagnostics.hpp"
#include "tools/output/job_json.hpp"
#include "tools/output/json_text.hpp"
#include "tools/output/result_table.hpp"
#include "tools/validate/scorecard.hpp"
#include "topologies/fabric.hpp"
#include "workloads/formats/format.hpp"
#include "workloads/plan/plan.hpp"
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

// A report, what `weft check` found, and what files of other tools came to, for programs.

// {"file", "line", "column", "key", "message", "suggestion"} of each: what is not known is left out.
Json diagnostics_json(std::span<const Diagnostic> diagnostics);
Json notes_json(std::span<const FormatNote> notes);

// Of calls by the size of their messages, what carried them and how fast.
Json calls_json(const std::vector<CallReport>& calls);

// Of the fullest stage, against what the device has.
Json planned_memory_json(const Plan& plan, std::span<const MemoryAdvice> advice);

Json evidence_json(const Evidence& evidence);

// `wall` is the only value that may differ between two runs of the same input. The plan that was simulated says of its
// job what the report says in prose.
std::string report_json(const Report& report, const Plan& plan, const JobRecord& record, const Validity& validity,
                        Seconds wall);
// Of planned_report(): the same keys as far as they are known; step and throughput are null.
std::string planned_json(const Report& report, const Plan& plan, const JobRecord& record, const Validity& validity);

// {"format", "kind", "object", "facts", "notes"}
std::string import_json(const Format& format, const Import& import);

}  // namespace weft
