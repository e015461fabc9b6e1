// The report for machines: SI units, seconds and bytes.
#pragma once

#include <string>

#include "tools/output/job_json.hpp"
#include "tools/validate/validity.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/report/report.hpp"

namespace weft {

// `wall` is the only value that may differ between two runs of the same input. The plan that was simulated says of its
// job what the report says in prose.
std::string report_json(const Report& report, const Plan& plan, const JobRecord& record, const Validity& validity,
                        Seconds wall);
// Of planned_report(): the same keys as far as they are known; step and throughput are null.
std::string planned_json(const Report& report, const Plan& plan, const JobRecord& record, const Validity& validity);

}  // namespace weft
