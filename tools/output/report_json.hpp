// A report, what `weft check` found, and what files of other tools came to, for programs.
#pragma once

#include <span>
#include <string>

#include "sim/io/diagnostics.hpp"
#include "tools/output/job_json.hpp"
#include "tools/output/json_text.hpp"
#include "tools/validate/scorecard.hpp"
#include "workloads/formats/format.hpp"
#include "workloads/plan/advice.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/report/report.hpp"

namespace weft {

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
