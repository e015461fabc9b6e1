// How far to trust an answer: the errors of the measured runs that are most like its job. They are recorded by kind of
// job in tests/validation/errors.csv (weft validate --record), because finding them takes seconds.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/validate/run.hpp"
#include "tools/validate/scorecard.hpp"
#include "workloads/plan/plan.hpp"

namespace weft {

// Measured runs on the job's device that share the most of its traits, the first ones before the others.
struct Evidence {
    std::vector<std::string> sets;
    ErrorStatistics errors{};  // of step time, or of memory; no rows: nothing was measured on the device
    double least_ranks = 0, most_ranks = 0;
    std::vector<std::string_view> unlike{};  // traits that they do not share; "scale": ranks differ by more than 4

    bool is_of_the_kind() const { return errors.rows > 0 && unlike.empty(); }
};

struct Validity {
    JobTraits job;
    Evidence step_time, memory;
};

Validity validity_of(const Plan& plan);
Validity validity_of(JobTraits job, std::string_view record);

// The CSV text of such a record: rows marked predict that measured a step's time, rate or memory. A rate's error is
// that of its time.
std::string error_record(std::span<const ValidationSet> sets, std::span<const ValidatedRow> rows);

}  // namespace weft
