#include "tools/output/comparison_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/io/units.hpp"
#include "tools/output/figures.hpp"
#include "tools/output/json_text.hpp"

namespace weft {

std::vector<ComparedCause> cause_lines(const JobComparison& comparison) {
    constexpr double worth_a_line = 0.001;  // of the longest step
    std::int64_t longest = 0;
    for (const JobExplanation& job : comparison.jobs) longest = std::max(longest, job.explanation.end.femtoseconds);
    std::vector<ComparedCause> lines;
    ComparedCause small{{"all else", {}, {}}, std::vector<std::int64_t>(comparison.jobs.size(), 0)};
    for (const ComparedCause& cause : comparison.causes) {
        if (static_cast<double>(std::ranges::max(cause.ticks)) >= worth_a_line * static_cast<double>(longest)) {
            lines.push_back(cause);
        } else {
            for (std::size_t job = 0; job < small.ticks.size(); ++job) small.ticks[job] += cause.ticks[job];
        }
    }
    if (std::ranges::max(small.ticks) > 0) lines.push_back(std::move(small));
    return lines;
}

std::string more_text(Seconds time) {
    if (time.value == 0) return "";
    return (time.value < 0 ? "-" : "+") + to_text(Seconds{std::abs(time.value)});
}

namespace {

struct ComparedFigure {
    std::string_view name, key;  // of the metric
    std::string (*text)(double);
};
constexpr ComparedFigure figures[] = {
    {"step time", "step.time_s", [](double value) { return to_text(Seconds{value}); }},
    {"tokens/s", "throughput.tokens_per_s", [](double value) { return fmt::format("{:.0f}", value); }},
    {"model TFLOP/s per GPU", "throughput.model_tflops_per_gpu",
     [](double value) { return fmt::format("{:.1f}", value); }},
    {"MFU", "throughput.mfu", percent},
    {"memory", "memory.peak_bytes", [](double value) { return to_text(Bytes{value}); }},
};

// What a table has of every job: the first one's value, then of each other one its value and the difference.
std::vector<std::string> headings(const JobComparison& comparison, std::string first) {
    std::vector<std::string> texts{std::move(first)};
    for (std::size_t job = 0; job < comparison.names.size(); ++job) {
        texts.push_back(comparison.names[job]);
        if (job > 0) texts.emplace_back("more");
    }
    return texts;
}

}  // namespace

TextTable cause_table(const JobComparison& comparison) {
    TextTable table(headings(comparison, "<on the critical path"));
    const auto add = [&](const std::string& name, const std::vector<std::int64_t>& ticks) {
        std::vector<std::string> cells{name};
        for (std::size_t job = 0; job < ticks.size(); ++job) {
            cells.push_back(ticks[job] == 0 ? "" : to_text(since_start({ticks[job]})));
            if (job > 0) cells.push_back(more_text(since_start({ticks[job] - ticks.front()})));
        }
        table.add(std::move(cells));
    };
    for (const ComparedCause& line : cause_lines(comparison)) add(cause_text(line.cause), line.ticks);
    add("step", list_of<std::int64_t>(comparison.jobs,
                                      [](const JobExplanation& job) { return job.explanation.end.femtoseconds; }));
    return table;
}

TextTable figure_table(const JobComparison& comparison) {
    TextTable table(headings(comparison, "<"));
    for (const ComparedFigure& figure : figures) {
        std::vector<std::string> cells{std::string(figure.name)};
        const double first = comparison.jobs.front().report.metric(figure.key);
        for (std::size_t job = 0; job < comparison.jobs.size(); ++job) {
            const double value = comparison.jobs[job].report.metric(figure.key);
            cells.push_back(figure.text(value));
            if (job > 0) cells.push_back(signed_percent_text(value / first - 1));
        }
        table.add(std::move(cells));
    }
    return table;
}

TextTable input_table(const JobComparison& comparison) {
    std::vector<std::string> heads{"<what differs"};
    for (const std::string& name : comparison.names) heads.push_back("<" + name);
    TextTable table(heads);
    for (const ComparedInput& input : comparison.inputs) {
        std::vector<std::string> cells{input.key};
        for (const std::string& value : input.values) cells.push_back(value.empty() ? "-" : value);
        table.add(std::move(cells));
    }
    return table;
}

std::string job_comparison_text(const JobComparison& comparison) {
    const std::string inputs = comparison.inputs.empty() ? "the jobs say the same\n" : input_table(comparison).text();
    return inputs + '\n' + figure_table(comparison).text() + '\n' + cause_table(comparison).text();
}

std::string job_comparison_json(const JobComparison& comparison) {
    const auto of_jobs = [&](auto get) { return json_list<Json>(comparison.jobs, get); };
    const auto seconds = [](std::int64_t ticks) { return since_start({ticks}).value; };
    Json json{{"names", comparison.names},
              {"step_s", of_jobs([](const JobExplanation& job) { return since_start(job.explanation.end).value; })}};
    json["causes"] = json_list<Json>(comparison.causes, [&](const ComparedCause& cause) {
        return Json{{"cause", cause.cause.name},
                    {"dimension", cause.cause.dimension},
                    {"link", cause.cause.link},
                    {"time_s", json_list<Json>(cause.ticks, seconds)}};
    });
    const auto value = [](const std::string& said) { return said.empty() ? Json() : Json(said); };
    json["inputs"] = json_list<Json>(comparison.inputs, [&](const ComparedInput& input) {
        return Json{{"key", input.key}, {"values", json_list<Json>(input.values, value)}};
    });
    json["metrics"] = Json::object();
    for (const Metric& metric : comparison.jobs.front().report.metrics) {
        json["metrics"][std::string(metric.key)] =
            of_jobs([&](const JobExplanation& job) { return job.report.metric(metric.key); });
    }
    return json_text(json);
}

}  // namespace weft
