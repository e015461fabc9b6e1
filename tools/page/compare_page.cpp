#include "tools/page/pages.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "sim/io/units.hpp"
#include "tools/output/comparison_text.hpp"
#include "tools/output/svg_text.hpp"
#include "tools/page/html.hpp"
#include "tools/page/result_data.hpp"

namespace weft {
namespace {

Seconds step_of(const JobExplanation& job) { return since_start(job.explanation.end); }

// "Step time: A 5.30 s; B 4.20 s, 1.10 s (20.8 %) less."
std::string lead(const JobComparison& comparison) {
    const Seconds first = step_of(comparison.jobs.front());
    std::string text = fmt::format("Step time: {} {}", comparison.names.front(), to_text(first));
    for (std::size_t job = 1; job < comparison.jobs.size(); ++job) {
        const Seconds own = step_of(comparison.jobs[job]), more = own - first;
        text += fmt::format("; {} {}, ", comparison.names[job], to_text(own));
        text += more.value == 0 ? "the same"
                                : fmt::format("{} ({:.1f} %) {}", to_text(Seconds{std::abs(more.value)}),
                                              100 * std::abs(own / first - 1), more.value < 0 ? "less" : "more");
    }
    return text + '.';
}

// One that does not fit would not run.
std::string misfits(const JobComparison& comparison) {
    std::string text;
    for (std::size_t job = 0; job < comparison.jobs.size(); ++job) {
        const Plan& plan = comparison.jobs[job].step.run.plan;
        if (plan.fits()) continue;
        text += fmt::format("<p class=\"bad\">{} does not fit in memory.</p>\n", xml_escaped(comparison.names[job]));
    }
    return text;
}

std::string inputs(const JobComparison& comparison) {
    if (comparison.inputs.empty()) return "<p>The jobs say the same.</p>";
    return html_table("Keys that not all jobs have alike; of what a file does not say, what came of it.",
                      input_table(comparison));
}

std::string causes(const JobComparison& comparison) {
    std::vector<HtmlBars> bars;
    for (std::size_t job = 1; job < comparison.names.size(); ++job) bars.push_back({2 * job + 1, {}});
    for (const ComparedCause& line : cause_lines(comparison)) {
        for (std::size_t job = 1; job < line.ticks.size(); ++job) {
            bars[job - 1].values.push_back(line.ticks[job] - line.ticks.front());
        }
    }
    return html_table(
        "The critical path of each job by cause; the times sum to its step, the differences to that of the steps. Bars "
        "to the left save time against the first job, bars to the right cost it.",
        cause_table(comparison), bars);
}

// A page holds so many slices of all jobs together.
TimelineLimits share_of(std::size_t jobs) {
    const TimelineLimits all;
    return {.slices = all.slices / jobs,
            .stages = std::max<std::size_t>(2, all.stages / jobs),
            .held = all.held / jobs,
            .rows = std::max<std::size_t>(2, all.rows / jobs)};
}

Json jobs_data(const JobComparison& comparison, std::vector<TimelinePart>& parts) {
    Json jobs = Json::array();
    for (std::size_t job = 0; job < comparison.jobs.size(); ++job) {
        const Simulation& run = comparison.jobs[job].step.run;
        parts.push_back(timeline_part(run.step, run.timeline, share_of(comparison.jobs.size())));
        jobs.push_back({{"name", comparison.names[job]},
                        {"timeline", timeline_data(run, parts.back(), comparison.jobs[job].explanation.path)}});
    }
    return {{"jobs", std::move(jobs)}};
}

std::string timelines(const JobComparison& comparison, const std::vector<TimelinePart>& parts) {
    HtmlText html;
    html.put("<p>On one axis of time: zooming or panning one does it to all.</p>\n");
    for (std::size_t job = 0; job < comparison.jobs.size(); ++job) {
        html.add("<h3>{}: {} a step</h3>", xml_escaped(comparison.names[job]), to_text(step_of(comparison.jobs[job])));
        if (parts[job].left_out > 0) {
            html.add("<p><strong>Only the first {} are shown: the rest would be too much for a page.</strong></p>",
                     to_text(since_start(parts[job].until)));
        }
        html.add("<div id=\"timeline-{}\"></div>", job);
    }
    html.put("<noscript><p>Timelines need JavaScript.</p></noscript>\n");
    return html.take();
}

}  // namespace

std::string compare_page(const JobComparison& comparison, const ResultPageText& text) {
    std::vector<TimelinePart> parts;
    const Json data = jobs_data(comparison, parts);
    HtmlText html;
    html.add("<p class=\"lead\">{}</p>{}", xml_escaped(lead(comparison)), misfits(comparison));
    const HtmlSection sections[] = {
        {"causes", "Causes", "Where the difference comes from", causes(comparison)},
        {"timelines", "Timelines", "Timelines", timelines(comparison, parts)},
        {"figures", "Figures", "Figures", html_table("Differences are to the first job.", figure_table(comparison))},
        {"inputs", "What differs", "What differs", inputs(comparison)},
    };
    html.add("<nav aria-label=\"Sections\">{}</nav>", html_links(sections));
    html.put(html_sections(sections));
    html.add("{}", html_made_by(text.command));
    return html_page({.title = text.title,
                      .body = html.take(),
                      .data = data_text(data),
                      .scripts = {"table", "format", "theme", "timeline_view", "timeline_lanes", "timeline_drawing",
                                  "timeline", "compare"}});
}

}  // namespace weft
