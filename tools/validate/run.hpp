// Predicts what the rows of validation sets measured. Rows are independent simulations on threads; the results come in
// the order of the rows and are the same for any number of threads.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tools/validate/row_job.hpp"
#include "tools/validate/set.hpp"
#include "workloads/job/job.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/report/flop_convention.hpp"

namespace weft {

// A row that was read and checked. Constants of its device may be changed before it is predicted.
struct ValidationCase {
    std::size_t set = 0, row = 0;  // places in the sets and their rows
    std::variant<Study, CollectiveRequest> subject;
};

// The rows of `sets` whose names contain `filter`. Throws ConfigError with every mistake in any row's job, by set, line
// and key.
std::vector<ValidationCase> validation_cases(std::span<const ValidationSet> sets, std::string_view filter = {});

// What kind of job a step is: enough to tell which measured runs are like it. What matters most comes first.
inline constexpr std::array<std::string_view, 7> trait_names{"device",    "framework", "model",  "layers",
                                                             "precision", "sharding",  "context"};

struct JobTraits {
    std::array<std::string, trait_names.size()> values;  // in words: "a100-80", ..., "optimizer sharded", ...
    double ranks = 1;
};

JobTraits job_traits(const Plan& plan);

struct Prediction {
    std::vector<double> values;  // one per measurement of the row, in SI units
    bool fits = true;            // in the device's memory
    Flops step_flops{};          // by the convention asked for; 0 of a collective
    double ranks = 1;
    std::optional<JobTraits> job{};  // of a step
};

// Throws ConfigError or RangeError for what cannot be predicted.
Prediction predict(const ValidationCase& one, const ValidationRow& row,
                   FlopConvention convention = FlopConvention::model);

// One measurement beside its prediction.
struct ValidatedRow {
    std::size_t set = 0, row = 0;
    std::string quantity;
    double measured = 0, predicted = 0;
    bool fits = true;
    // TFLOP/s per accelerator by the convention asked for; 0 where the quantity is no time of a step.
    double measured_tflops = 0, predicted_tflops = 0;
    std::optional<JobTraits> job{};  // nothing of a collective on its own

    double error() const { return predicted / measured - 1.0; }
};

struct ValidationOptions {
    std::string filter{};
    unsigned threads = 1;
    FlopConvention convention = FlopConvention::model;
    std::vector<Device> devices{};                                        // in place of those of the same names
    std::function<void(std::size_t done, std::size_t cases)> progress{};  // called from any thread, one at a time
};

// By set, row and column of measurement. Throws ConfigError with every mistake in any row.
std::vector<ValidatedRow> run_validation(std::span<const ValidationSet> sets, const ValidationOptions& options = {});

}  // namespace weft
