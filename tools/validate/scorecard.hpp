// What a validation comes to: statistics of relative errors, by set, and which promises hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/validate/run.hpp"
#include "workloads/plan/plan.hpp"

namespace weft {

// Of absolute relative errors, except for the bias. Quantiles: linear between the nearest ranks (R's type 7, numpy's
// default).
struct ErrorStatistics {
    std::size_t rows = 0;  // the others are 0 where there are none
    double mean = 0, median = 0, percentile_90 = 0, largest = 0;
    double bias = 0;  // mean of the signed errors

    bool are_large() const { return percentile_90 > 0.1; }  // a tenth of them or more: why is to be said
};

// Why the errors of a set are large; empty: that is not known.
struct CauseOfErrors {
    std::string set, cause;
};

// Of at least one value, ascending; `share` from 0 to 1.
double quantile(const std::vector<double>& sorted, double share);

ErrorStatistics error_statistics(const std::vector<double>& errors);

// A bound that a set promises, and what came out.
struct BoundCheck {
    RowUse use{};      // of the rows it is about
    std::string what;  // "mean", "median", "p90" or "max"
    double bound = 0, actual = 0;
    bool holds() const { return actual <= bound; }
};

struct ErrorsByUse {
    ErrorStatistics predict, fit, disturbed;
    const ErrorStatistics& of(RowUse use) const;
};

struct SetScore : ErrorsByUse {
    std::vector<BoundCheck> bounds;  // empty: nothing promised, or only some rows were run
    bool passed() const;
};

enum class Coverage : std::uint8_t { whole, filtered };  // bounds are of whole sets

struct Scorecard : ErrorsByUse {  // of all sets together
    std::vector<SetScore> sets;   // as the sets
    bool passed() const;
};

// What was validated and what came of it; the views refer to values that outlive it.
struct Validation {
    std::span<const ValidationSet> sets;
    std::span<const ValidatedRow> rows;
    Scorecard card;
    std::optional<FlopConvention> convention{};  // if TFLOP/s are asked for
};

Scorecard make_scorecard(std::span<const ValidationSet> sets, std::span<const ValidatedRow> rows, Coverage coverage);

// Places of the rows marked predict with the largest absolute errors, worst first, `count` at most.
std::vector<std::size_t> worst_rows(std::span<const ValidationSet> sets, std::span<const ValidatedRow> rows,
                                    std::size_t count);

// How far to trust an answer: the errors of the measured runs that are most like its job. They are recorded by kind of
// job in tests/validation/errors.csv (weft validate --record), because finding them takes seconds.

// Measured runs on the job's device that share the most of its traits, the first ones before the others.
struct Evidence {
    std::vector<std::string> sets;
    ErrorStatistics errors{};  // of step time, or of memory; no rows: nothing was measured on the device
    double least_ranks = 0, most_ranks = 0;
    std::vector<CauseOfErrors> causes{};     // of sets of which these runs have large ones
    std::vector<std::string_view> unlike{};  // traits that they do not share; "scale": ranks differ by more than 4

    bool is_of_the_kind() const { return errors.rows > 0 && unlike.empty(); }
};

struct Validity {
    JobTraits job;
    Evidence step_time, memory;
};

// Of one collective call, by rows of either use.
Evidence evidence_of(const JobTraits& call);

Validity validity_of(const Plan& plan);
Validity validity_of(JobTraits job, std::string_view record);

// The CSV text of such a record: rows marked predict that measured a step's time, rate or memory, and all undisturbed
// ones of single calls. A rate's error is that of its time.
std::string error_record(std::span<const ValidationSet> sets, std::span<const ValidatedRow> rows);

}  // namespace weft
