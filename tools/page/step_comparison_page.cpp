#include "tools/page/pages.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

#include "sim/io/units.hpp"
#include "tools/output/comparison_text.hpp"
#include "tools/output/figures.hpp"
#include "tools/page/html.hpp"
#include "tools/page/result_data.hpp"

namespace weft {
namespace {

std::string text_of(std::int64_t femtoseconds) { return to_text(since_start({femtoseconds})); }

std::string name_of(const StepComparison& found) { return std::filesystem::path(found.trace).filename().string(); }

std::int64_t own_time(const StepComparison& found) { return found.duration[0] - found.profiling; }

// Of simulated over recorded without profiling; a step of no length has none.
std::string difference(const StepComparison& found) {
    if (own_time(found) <= 0) return "";
    return signed_percent_text(static_cast<double>(found.duration[1]) / static_cast<double>(own_time(found)) - 1);
}

std::string lead(const StepComparison& found) {
    return fmt::format("Recorded {}, about {} without what profiling takes; simulated {} ({}).",
                       text_of(found.duration[0]), text_of(own_time(found)), text_of(found.duration[1]),
                       difference(found));
}

std::string cards(const StepComparison& found) {
    std::vector<HtmlCard> all{
        {"recorded", text_of(found.duration[0]), xml_escaped(found.recorded.name)},
        {"without profiling", text_of(own_time(found)), "estimated: less " + text_of(found.profiling)},
        {"simulated", text_of(found.duration[1]), fmt::format("a rank of stage {}", found.stage)},
        {"difference", difference(found), "of the step without profiling"},
        {"counterparts", percent(found.matched), "of the recorded kernels' time"}};
    if (found.memory[0] > 0) {
        all.push_back(
            {"memory", to_text(Bytes{found.memory[0]}), "allocated; simulated " + to_text(Bytes{found.memory[1]})});
    }
    return html_cards(all);
}

std::string classes(const StepComparison& found) {
    HtmlBars bars{6, {}};
    for (const ComparedWork& work : found.classes) bars.values.push_back(-work.difference());
    return html_table(
        "Kernel time by pass and class, the largest difference first. Kernels that run at once count each. Rates of "
        "either side are over the work that is simulated. Bars to the right: the simulation takes longer.",
        work_table(found), {bars});
}

std::string gaps(const StepComparison& found) {
    HtmlBars bars{3, {0}};
    for (const ComparedWork& work : found.classes) bars.values.front() += work.exposed[1] - work.exposed[0];
    for (const ComparedGap& gap : found.gaps) bars.values.push_back(gap.femtoseconds[1] - gap.femtoseconds[0]);
    return html_table("What the device does, and why it does nothing: the rows add up to the step.", gap_table(found),
                      {bars});
}

// Pass, layer, class, and nanoseconds of either side.
Json layer_rows(const StepComparison& found) {
    Json rows = Json::array();
    for (const ComparedWork& work : found.layers) {
        if (work.key.layer == no_layer) continue;
        rows.push_back({name(work.key.pass), work.key.layer, name(work.key.what), nanoseconds({work.femtoseconds[0]}),
                        nanoseconds({work.femtoseconds[1]})});
    }
    return rows;
}

std::string layers(const StepComparison& found, std::size_t number) {
    const bool told = std::ranges::any_of(
        found.layers, [](const ComparedWork& work) { return work.key.layer != no_layer && work.femtoseconds[0] > 0; });
    return fmt::format("<p{}</p>\n<div id=\"layer-columns-{}\"></div>\n",
                       told ? ">Kernel time of each layer: the left column recorded, the paler right one simulated."
                            : " class=\"bad\">The layers of the recorded step could not be told apart.",
                       number);
}

std::string unmatched(const StepComparison& found) {
    if (found.unmatched.empty()) return "<p>Every kernel has a counterpart in its pass, layer and class.</p>";
    return html_table(
        "Kernels of a pass, layer and class that the other side has none of, the longest first. Calls are matched by "
        "operation and group.",
        unmatched_table(found, found.unmatched.size(), 120));
}

std::string assumptions(const StepComparison& found) {
    std::vector<std::string> all = step_comparison_words(found).told;
    for (const char* each :
         {"The recorded step lasts from the end of the one before, on the device, to its own end; of several in a "
          "trace "
          "the one of median length is taken.",
          "Layers are found by their attention kernels, which the profiler does not name; backward kernels by the "
          "numbers that autograd gave their forward operations.",
          "Classes are found by the names of kernels and of the operations that launched them, products by their "
          "shapes. Where a framework fuses passes, all passes are one class.",
          "How fast the host issues layers is the median over layers, from its first launch for one to that for the "
          "next.",
          "A gap is the host's until the next kernel is launched, and between kernels from then on."}) {
        all.emplace_back(each);
    }
    all.push_back(fmt::format(
        "Recording takes the host about {} for each operation (one H100, PyTorch 2.11, shapes recorded), and "
        "the step at most as much as the device waited for its host.",
        to_text(profiling_of_operation)));
    return "<ul>" + html_items(all) + "</ul>\n";
}

std::string left_out_text(std::size_t count, std::string_view what) {
    if (count == 0) return "";
    return fmt::format("<p><strong>The last {} {} are not shown: they would be too much for a page.</strong></p>",
                       grouped(static_cast<double>(count)), what);
}

// Both timelines have an axis of their own.
std::string timelines(const ComparedTrace& compared, const Simulation& run, std::size_t most, Json& jobs) {
    const TimelinePart part =
        timeline_part(run.step, run.timeline,
                      {.slices = most / 2, .stages = 1, .held = most / 2, .rows = 1, .asked = {compared.found.stage}});
    Json recorded = recorded_timeline(compared.trace, compared.found, most - part.slices);
    const auto left_out = recorded["left_out"].get<std::size_t>();
    const std::size_t first = jobs.size();
    jobs.push_back({{"name", "recorded"},
                    {"axis", first},
                    {"timeline", std::move(recorded)},
                    {"layers", layer_rows(compared.found)}});
    jobs.push_back({{"name", "simulated"}, {"axis", first}, {"timeline", timeline_data(run, part)}});
    return fmt::format(
        "<p>On one axis of time: zooming or panning one does it to the other. Recorded kernels have the colours of the "
        "passes that they belong to.</p>\n<h3>Recorded: {} a step</h3>{}<div id=\"timeline-{}\"></div>\n"
        "<h3>Simulated: {} a step</h3>{}<div id=\"timeline-{}\"></div>\n"
        "<noscript><p>Timelines need JavaScript.</p></noscript>\n",
        text_of(compared.found.duration[0]), left_out_text(left_out, "kernels"), first,
        text_of(compared.found.duration[1]), left_out_text(part.left_out, "slices"), first + 1);
}

std::string trace_part(const ComparedTrace& compared, const Simulation& run, std::size_t most, Json& jobs) {
    const StepComparison& found = compared.found;
    const std::size_t number = jobs.size();
    const std::string mark = number == 0 ? "" : fmt::format("-{}", number);
    std::vector<HtmlSection> sections{
        {"timelines" + mark, "Timelines", "Timelines", timelines(compared, run, most, jobs)},
        {"classes" + mark, "Classes", "Kernels by class", classes(found)},
        {"gaps" + mark, "Gaps", "Gaps of the device", gaps(found)},
        {"layers" + mark, "Layers", "Layer by layer", layers(found, number)},
        {"unmatched" + mark, "Unmatched", "What has no counterpart", unmatched(found)},
        {"assumptions" + mark, "How it was told", "How it was told", assumptions(found)}};
    if (!found.calls.empty()) {
        sections.insert(sections.begin() + 3, {"calls" + mark, "Calls", "Communication",
                                               html_table("Calls by operation and group.", call_table(found))});
    }
    const StepComparisonWords words = step_comparison_words(found);
    HtmlText html;
    html.add("<p class=\"lead\">{}.</p>", xml_escaped(words.step));
    if (!words.warning.empty()) html.add("<p class=\"bad\">{}.</p>", xml_escaped(words.warning));
    html.put(cards(found));
    html.add("<nav aria-label=\"Sections of {}\">{}</nav>", xml_escaped(name_of(found)), html_links(sections));
    html.put(html_sections(sections));
    return html.take();
}

}  // namespace

std::string step_comparison_page(std::span<const ComparedTrace> traces, const Simulation& run, const JobInput& input,
                                 const std::string& job) {
    Json jobs = Json::array();
    HtmlText html;
    for (const ComparedTrace& each : traces) {
        const std::string part = trace_part(each, run, TimelineLimits{}.slices / traces.size(), jobs);
        if (traces.size() == 1) {
            html.add("<p class=\"lead\">{}</p>", xml_escaped(lead(each.found)));
            html.put(part);
        } else {
            html.add("<details class=\"set\"{}><summary>{}: {}</summary>", &each == &traces.front() ? " open" : "",
                     xml_escaped(name_of(each.found)), xml_escaped(lead(each.found)));
            html.put(part + "</details>\n");
        }
    }
    html.add("<section id=\"inputs\"><h2>What was simulated</h2>{}{}</section>", html_made_by(input.command),
             input_tables(run, input));
    return html_page({.title = job + ", recorded and simulated",
                      .body = html.take(),
                      .data = data_text({{"jobs", std::move(jobs)}}),
                      .scripts = {"table", "format", "theme", "opened_details", "timeline_view", "timeline_lanes",
                                  "timeline_drawing", "timeline", "layer_columns", "compare"}});
}

}  // namespace weft
