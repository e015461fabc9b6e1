#include "tools/output/job_comparison_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/io/units.hpp"
#include "tools/output/figures.hpp"

namespace weft {

std::vector<ComparedLine> cause_lines(const JobComparison& comparison) {
    constexpr double worth_a_line = 0.001;  // of the longest step
    std::int64_t longest = 0;
    for (const JobExplanation& job : comparison.jobs) longest = std::max(longest, job.explanation.end.femtoseconds);
    std::vector<ComparedLine> lines;
    ComparedLine small{"all else", std::vector<std::int64_t>(comparison.jobs.size(), 0)};
    for (const ComparedCause& cause : comparison.causes) {
        if (static_cast<double>(std::ranges::max(cause.ticks)) >= worth_a_line * static_cast<double>(longest)) {
            lines.push_back({cause_text(cause.cause), cause.ticks});
        } else {
            for (std::size_t job = 0; job < small.ticks.size(); ++job) small.ticks[job] += cause.ticks[job];
        }
    }
    if (std::ranges::max(small.ticks) > 0) lines.push_back(std::move(small));
    return lines;
}

const std::vector<ComparedFigure>& compared_figures() {
    static const std::vector<ComparedFigure> figures{
        {"step time", "step.time_s", [](double value) { return to_text(Seconds{value}); }},
        {"tokens/s", "throughput.tokens_per_s", [](double value) { return fmt::format("{:.0f}", value); }},
        {"model TFLOP/s per GPU", "throughput.model_tflops_per_gpu",
         [](double value) { return fmt::format("{:.1f}", value); }},
        {"MFU", "throughput.mfu", percent},
        {"memory", "memory.peak_bytes", [](double value) { return to_text(Bytes{value}); }},
    };
    return figures;
}

std::string more_text(Seconds time) {
    if (time.value == 0) return "";
    return (time.value < 0 ? "-" : "+") + to_text(Seconds{std::abs(time.value)});
}

std::string ratio_text(double value, double of_which) { return fmt::format("{:+.1f} %", 100 * (value / of_which - 1)); }

}  // namespace weft
