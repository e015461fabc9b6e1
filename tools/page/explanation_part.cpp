#include "tools/page/simulation_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/io/units.hpp"
#include "tools/output/explanation_text.hpp"
#include "tools/output/figures.hpp"
#include "tools/output/svg_text.hpp"
#include "tools/page/html.hpp"

namespace weft {
namespace {

double share(std::int64_t ticks, const Explanation& found) {
    return static_cast<double>(ticks) / static_cast<double>(found.end.femtoseconds);
}

// The best three that fit, compute the same to rounding and save something, with the line to copy.
std::string best_changes(const JobExplanation& explained, const std::string& simulate) {
    const Seconds own = since_start(explained.explanation.end);
    HtmlText html;
    std::size_t shown = 0;
    for (const ExplainedSetting& setting : explained.settings) {
        if (!setting.is_told() || setting.changes_numerics || setting.step >= own * (1 - no_difference) || shown == 3)
            continue;
        std::string line = simulate;
        for (const std::string& assignment : setting.assignments) line += fmt::format(" --set '{}'", assignment);
        html.add("<li><strong>{}</strong>: {}, {:.1f} % less ({}), with {} of memory<br><code>{}</code></li>",
                 xml_escaped(assignments_text(setting)), to_text(setting.step), 100 * (1.0 - setting.step / own),
                 name(setting.means), to_text(setting.memory), xml_escaped(line));
        ++shown;
    }
    if (explained.settings.empty()) return {};
    if (shown == 0) return "<p>No setting one step away from the job's makes it faster and fits.</p>";
    return "<p>What would help most, each change on its own:</p><ol class=\"changes\">" + html.take() + "</ol>";
}

std::string stretches_list(const Explanation& found) {
    HtmlText html;
    html.put("<ol>");
    for (const PathStretch& each : found.stretches) {
        html.add("<li>from {} on, {}: {}</li>", to_text(since_start(each.begin)), to_text(each.end - each.begin),
                 xml_escaped(each.text));
    }
    html.put("</ol>");
    return html_details("Its longest passages", html.take());
}

std::string changes_of(std::string_view summary, const std::vector<std::string>& changes) {
    if (changes.empty()) return {};
    return html_details(summary, "<p>" + xml_escaped(fmt::format("{}", fmt::join(changes, ", "))) + "</p>");
}

// Bars from the step as it is: savings to the left.
std::string changes_part(std::string_view heading, std::string_view caption, const ChangeTable& changes) {
    const auto column =
        std::ranges::find_if(changes.table.columns, [](const Column& each) { return each.heading == "change"; });
    HtmlBars bars{static_cast<std::size_t>(column - changes.table.columns.begin()), {}};
    for (const std::vector<ResultCell>& row : changes.table.rows) {
        const double change = cell_number(row[bars.behind]);  // none of what does not fit
        bars.values.push_back(std::isfinite(change) ? std::llround(1e6 * change) : 0);
    }
    return fmt::format("<h3>{}</h3>{}{}{}", heading, html_table(caption, changes.table, {bars}),
                       changes_of("Without a difference", changes.negligible),
                       changes_of("Not simulated, which alone would tell", changes.unknown));
}

std::string rooflines_part(const Rooflines& rooflines) {
    const DeviceRoofline& device = rooflines.device;
    std::string html = fmt::format(
        "<h3>Roofline of the device</h3><p>A device of stage {}. A dot is a class of kernels, as large as its time; "
        "the full line is the data sheet's {} and {}, the dashed one what is sustained: {} and {}.</p>"
        "<div id=\"roofline-chart\"></div>{}",
        rooflines.stage, to_text(device.peak), to_text(device.memory), to_text(device.sustained),
        to_text(device.sustained_memory),
        html_table(fmt::format("The device is busy for {} of the step.", to_text(device.busy())),
                   kernels_table(device)));
    if (!rooflines.kinds.empty()) {
        html += "<h3>Kinds of layers</h3>" +
                html_table("A rank's share of one layer, for a micro-batch, without calls and without what runs again.",
                           kinds_table(rooflines.kinds));
    }
    if (rooflines.fabric.empty()) return html;
    return html + "<h3>Roofline of the fabric</h3>" +
           html_table(
               "Calls of one rank in a step, by what bounds them alone. Line rate: the bus bandwidth of the same "
               "algorithm on links as their data sheets have them.",
               fabric_table(rooflines.fabric));
}

// What the step is bound by, in a sentence.
std::string bottleneck_text(const Explanation& explanation) {
    std::string text;
    std::size_t told = 0;
    for (const ExplainedCause& each : explanation.causes) {
        if (told == 3 || (told > 0 && share(each.ticks, explanation) < 0.03)) break;
        text += fmt::format("{}{} {}", told == 0 ? "" : ", ", percent(share(each.ticks, explanation)),
                            cause_text(each.cause));
        ++told;
    }
    return text;
}

}  // namespace

std::string explanation_part(const JobExplanation& explained, const std::string& simulate) {
    const Explanation& found = explained.explanation;
    const Seconds own = since_start(found.end);
    std::string html =
        fmt::format("<p class=\"bottleneck\">The critical path is {}.</p>\n{}{}{}", xml_escaped(bottleneck_text(found)),
                    best_changes(explained, simulate),
                    html_table("The critical path by cause; the times sum to the step. On other stages than the path's "
                               "main one: while the pipeline fills and drains.",
                               causes_table(main_causes(found), found.end)),
                    stretches_list(found));
    if (!explained.knobs.empty()) {
        html += changes_part("If a limit were otherwise",
                             "Replayed: every operation again, with links shared as they were. First order: what the "
                             "path spends on it.",
                             knobs_table(explained.knobs, own));
    }
    if (!explained.settings.empty()) {
        html += changes_part("With other settings",
                             "Each on its own. Closed form: as weft plan screens, scaled to the step simulated. Other "
                             "numerics: what is computed is not the same to rounding.",
                             settings_table(explained.settings, own));
    }
    return html + rooflines_part(found.rooflines);
}

}  // namespace weft
