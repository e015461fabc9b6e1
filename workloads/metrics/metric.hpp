// The metrics of a step: one table, walked by text, JSON, rows of sweeps, comparisons and pages. A file of this folder
// with a table of its own adds to them.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sim/base/quantity.hpp"
#include "workloads/plan/plan.hpp"

namespace weft {

enum class MetricKind : std::uint8_t { number, count, flag };

struct Metric {
    std::string_view key;  // "step.time_s": the path in the JSON report
    double value = 0;
    std::string_view unit;  // "s", "B", "tokens/s", "TFLOP/s", "" for ratios and flags
    std::string_view meaning;
    MetricKind kind = MetricKind::number;
};

// The value in its own type, for anything that is made from a bool, an integer or a double (a JSON value, say).
template <class Value>
Value value_of(const Metric& metric) {
    switch (metric.kind) {
        case MetricKind::flag:
            return Value(metric.value != 0);
        case MetricKind::count:
            return Value(static_cast<std::int64_t>(std::llround(metric.value)));
        case MetricKind::number:
            break;
    }
    return Value(metric.value);
}

// What metrics are made from: of a plan that was not simulated, memory alone.
struct StepFigures {
    const Plan& plan;
    Seconds step{}, compute{}, interference{}, waiting_for_host{}, optimizer{}, exposed{}, bubble{}, imbalance{};
    double tokens_per_second = 0, model_rate = 0, hardware_rate = 0, mfu = 0;  // rates of a rank, in FLOP/s
};

struct StepMetric {
    std::string_view key, unit, meaning;  // as in Metric
    double (*value)(const StepFigures& of);
    MetricKind kind = MetricKind::number;
};

struct MetricTable {
    std::vector<StepMetric> rows;
};

namespace metrics {
extern const MetricTable step;  // what weft itself tells
std::span<const MetricTable* const> all();
}  // namespace metrics

// The rows of all tables, those of `step` first.
std::vector<StepMetric> known_metrics();

}  // namespace weft
