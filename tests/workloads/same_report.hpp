// What two reports of one job differ in, beyond rounding.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "workloads/report/report.hpp"

namespace weft::test {

class Differences {
  public:
    // 1e-9 relative; for times, which may be differences of long ones, relative to the step.
    void compare(std::string_view what, double a, double b, double scale = 0.0) {
        if (std::abs(a - b) <= 1e-9 * std::max({std::abs(a), std::abs(b), scale})) return;
        text_ += fmt::format("{}: {} and {}\n", what, a, b);
    }
    void compare(std::string_view what, Seconds a, Seconds b, Seconds step) {
        compare(what, a.value, b.value, step.value);
    }
    const std::string& text() const { return text_; }

  private:
    std::string text_;
};

inline std::string differences(const Report& a, const Report& b) {
    Differences differences;
    const Seconds step{a.metric("step.time_s")};
    for (const Metric& metric : a.metrics) {
        const bool is_time = metric.unit == "s";
        differences.compare(metric.key, metric.value, b.metric(metric.key), is_time ? step.value : 0.0);
    }
    differences.compare("stages", double(a.stages.size()), double(b.stages.size()));
    for (std::size_t i = 0; i < std::min(a.stages.size(), b.stages.size()); ++i) {
        const StageReport &x = a.stages[i], &y = b.stages[i];
        differences.compare(x.name + " ranks", x.ranks, y.ranks);
        differences.compare(x.name + " compute", x.compute, y.compute, step);
        differences.compare(x.name + " exposed", x.exposed, y.exposed, step);
        differences.compare(x.name + " idle", x.idle, y.idle, step);
    }
    differences.compare("kinds of calls", double(a.communication.size()), double(b.communication.size()));
    for (std::size_t i = 0; i < std::min(a.communication.size(), b.communication.size()); ++i) {
        const CommunicationReport &x = a.communication[i], &y = b.communication[i];
        const std::string name = x.dimension + " " + x.op;
        if (x.dimension != y.dimension || x.op != y.op) differences.compare(name + " is " + y.op, 0.0, 1.0);
        differences.compare(name + " calls", x.calls, y.calls);
        differences.compare(name + " bytes", x.bytes.value, y.bytes.value);
        differences.compare(name + " time", x.time, y.time, step);
        differences.compare(name + " exposed", x.exposed, y.exposed, step);
    }
    for (const LinkReport& x : a.links) {
        const auto y = std::ranges::find(b.links, x.link_class, &LinkReport::link_class);
        differences.compare(x.link_class, x.utilization, y->utilization);
        differences.compare(x.link_class + " peak", x.peak_utilization, y->peak_utilization);
    }
    return differences.text();
}

}  // namespace weft::test
