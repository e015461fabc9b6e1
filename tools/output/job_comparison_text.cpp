#include "tools/output/job_comparison_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/io/units.hpp"
#include "tools/output/text_table.hpp"

namespace weft {
namespace {

// What a table has of every job: the first one's value, then of each other one its value and the difference.
std::vector<std::string> headings(const JobComparison& comparison, std::string first) {
    std::vector<std::string> texts{std::move(first)};
    for (std::size_t job = 0; job < comparison.names.size(); ++job) {
        texts.push_back(comparison.names[job]);
        if (job > 0) texts.emplace_back("more");
    }
    return texts;
}

std::string signed_text(Seconds time) {
    const std::string text = to_text(Seconds{std::abs(time.value)});
    return time.value == 0 ? "" : (time.value < 0 ? "-" : "+") + text;
}

std::string times_table(const JobComparison& comparison) {
    TextTable table(headings(comparison, "<on the critical path"));
    const auto add = [&](std::string name, const std::vector<std::int64_t>& ticks) {
        std::vector<std::string> cells{std::move(name)};
        for (std::size_t job = 0; job < ticks.size(); ++job) {
            cells.push_back(ticks[job] == 0 ? "" : to_text(since_start({ticks[job]})));
            if (job > 0) cells.push_back(signed_text(since_start({ticks[job] - ticks.front()})));
        }
        table.add(std::move(cells));
    };
    std::vector<std::int64_t> steps, small(comparison.jobs.size(), 0);
    for (const JobExplanation& job : comparison.jobs) steps.push_back(job.explanation.end.femtoseconds);
    constexpr double worth_a_line = 0.001;  // of the longest step
    const double longest = static_cast<double>(std::ranges::max(steps));
    for (const ComparedCause& cause : comparison.causes) {
        if (static_cast<double>(std::ranges::max(cause.ticks)) >= worth_a_line * longest) {
            add(cause_text(cause.cause), cause.ticks);
        } else {
            for (std::size_t job = 0; job < small.size(); ++job) small[job] += cause.ticks[job];
        }
    }
    if (std::ranges::max(small) > 0) add("all else", small);
    add("step", steps);
    return table.text();
}

std::string metrics_table(const JobComparison& comparison) {
    TextTable table(headings(comparison, "<"));
    const auto add = [&](std::string name, std::string_view key, const auto& text) {
        std::vector<std::string> cells{std::move(name)};
        const double first = comparison.jobs.front().report.metric(key);
        for (std::size_t job = 0; job < comparison.jobs.size(); ++job) {
            const double value = comparison.jobs[job].report.metric(key);
            cells.push_back(text(value));
            if (job > 0) cells.push_back(fmt::format("{:+.1f} %", 100 * (value / first - 1.0)));
        }
        table.add(std::move(cells));
    };
    add("step time", "step.time_s", [](double value) { return to_text(Seconds{value}); });
    add("tokens/s", "throughput.tokens_per_s", [](double value) { return fmt::format("{:.0f}", value); });
    add("model TFLOP/s per GPU", "throughput.model_tflops_per_gpu",
        [](double value) { return fmt::format("{:.1f}", value); });
    add("MFU", "throughput.mfu", [](double value) { return fmt::format("{:.1f} %", 100 * value); });
    add("memory", "memory.peak_bytes", [](double value) { return to_text(Bytes{value}); });
    return table.text();
}

std::string inputs_table(const JobComparison& comparison) {
    std::vector<std::string> heads{"<what differs"};
    for (const std::string& name : comparison.names) heads.push_back("<" + name);
    TextTable table(heads);
    for (const ComparedInput& input : comparison.inputs) {
        std::vector<std::string> cells{input.key};
        for (const std::string& value : input.values) cells.push_back(value.empty() ? "-" : value);
        table.add(std::move(cells));
    }
    return comparison.inputs.empty() ? "the jobs say the same\n" : table.text();
}

}  // namespace

std::string job_comparison_text(const JobComparison& comparison) {
    return inputs_table(comparison) + '\n' + metrics_table(comparison) + '\n' + times_table(comparison);
}

std::string job_comparison_json(const JobComparison& comparison) {
    using Json = nlohmann::ordered_json;
    Json json{{"names", comparison.names}, {"step_s", Json::array()}, {"causes", Json::array()}};
    for (const JobExplanation& job : comparison.jobs) json["step_s"].push_back(since_start(job.explanation.end).value);
    for (const ComparedCause& cause : comparison.causes) {
        Json times = Json::array();
        for (const std::int64_t ticks : cause.ticks) times.push_back(since_start({ticks}).value);
        json["causes"].push_back({{"cause", cause.cause.name},
                                  {"dimension", cause.cause.dimension},
                                  {"link", cause.cause.link},
                                  {"time_s", std::move(times)}});
    }
    json["inputs"] = Json::array();
    for (const ComparedInput& input : comparison.inputs) {
        Json values = Json::array();
        for (const std::string& value : input.values) values.push_back(value.empty() ? Json(nullptr) : Json(value));
        json["inputs"].push_back({{"key", input.key}, {"values", std::move(values)}});
    }
    json["metrics"] = Json::object();
    for (const Metric& metric : comparison.jobs.front().report.metrics) {
        Json values = Json::array();
        for (const JobExplanation& job : comparison.jobs) values.push_back(job.report.metric(metric.key));
        json["metrics"][std::string(metric.key)] = std::move(values);
    }
    return json.dump(2) + "\n";
}

}  // namespace weft
