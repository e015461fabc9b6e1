#include "tools/page/simulation_page.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "sim/io/units.hpp"
#include "tools/output/figures.hpp"
#include "tools/output/svg_text.hpp"
#include "tools/page/html.hpp"

namespace weft {
namespace {

using Kind = HtmlColumn::Kind;

double share(std::int64_t ticks, const Explanation& found) {
    return static_cast<double>(ticks) / static_cast<double>(found.end.femtoseconds);
}

// The best three that fit, compute the same to rounding and save something, with the line to copy.
std::string best_changes(const PageExplanation& page) {
    const Seconds own = since_start(page.explanation.end);
    HtmlText html;
    std::size_t shown = 0;
    for (const ExplainedSetting& setting : page.settings) {
        if (!setting.is_told() || setting.changes_numerics || setting.step >= own * (1 - no_difference) || shown == 3)
            continue;
        std::string line = page.command;
        for (const std::string& assignment : setting.assignments) line += fmt::format(" --set '{}'", assignment);
        html.add("<li><strong>{}</strong>: {}, {:.1f} % less ({}), with {} of memory<br><code>{}</code></li>",
                 xml_escaped(assignments_text(setting)), to_text(setting.step), 100 * (1.0 - setting.step / own),
                 name(setting.means), to_text(setting.memory), xml_escaped(line));
        ++shown;
    }
    if (page.settings.empty()) return {};
    if (shown == 0) return "<p>No setting one step away from the job's makes it faster and fits.</p>";
    return "<p>What would help most, each change on its own:</p><ol class=\"changes\">" + html.take() + "</ol>";
}

std::string causes_table(const Explanation& found) {
    std::vector<std::vector<HtmlCell>> rows;
    for (const ExplainedCause& each : main_causes(found)) {
        rows.push_back({{cause_text(each.cause)},
                        {to_text(since_start({each.ticks})), static_cast<double>(each.ticks)},
                        {percent(share(each.ticks, found)), share(each.ticks, found)},
                        {to_text(since_start({each.elsewhere})), static_cast<double>(each.elsewhere)}});
    }
    return html_table(
        "The critical path by cause; the times sum to the step. On other stages than the path's main one: "
        "while the pipeline fills and drains.",
        {{"cause", Kind::text}, {"time"}, {"of the step"}, {"on other stages"}}, rows, HtmlOrder::sortable);
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

std::string unknown_list(const std::vector<std::string>& changes) {
    if (changes.empty()) return {};
    return html_details("Not simulated, which alone would tell",
                        "<p>" + xml_escaped(fmt::format("{}", fmt::join(changes, ", "))) + "</p>");
}

std::string knobs_picture(const PageExplanation& page) {
    const Seconds own = since_start(page.explanation.end);
    std::vector<TornadoBar> bars;
    std::vector<std::string> unknown;
    for (const ExplainedKnob& knob : page.knobs) {
        if (!knob.is_told()) unknown.push_back(knob.knob + " " + knob.change);
        if (!knob.is_told() || !makes_difference(knob.step, own)) continue;
        std::string text = knob.knob + " " + knob.change;
        if (knob.means != Means::simulated) text += fmt::format(" ({})", name(knob.means));
        bars.push_back({std::move(text), knob.step});
    }
    if (bars.empty()) return {};
    return "<h3>If a limit were otherwise</h3><p>Simulated where nothing else is said. Replayed: every operation "
           "again, "
           "with links shared as they were. First order: what the path spends on it.</p><div class=\"scroll\">" +
           tornado_svg(bars, own) + "</div>" + unknown_list(unknown);
}

std::string settings_table(const PageExplanation& page) {
    if (page.settings.empty()) return {};
    const Seconds own = since_start(page.explanation.end);
    std::vector<std::vector<HtmlCell>> rows;
    std::vector<std::string> without, unknown;
    for (const ExplainedSetting& setting : page.settings) {
        if (setting.means == Means::none) {
            unknown.push_back(assignments_text(setting));
            continue;
        }
        const double change = setting.fits ? setting.step / own - 1.0 : 0;
        if (setting.fits && !makes_difference(setting.step, own)) {
            without.push_back(assignments_text(setting));
            continue;
        }
        rows.push_back({{assignments_text(setting)},
                        {setting.fits ? to_text(setting.step) : "", setting.step.value},
                        {setting.fits ? fmt::format("{:+.2f} %", 100 * change) : "", change},
                        {setting.fits ? std::string(name(setting.means)) : ""},
                        {to_text(setting.memory), setting.memory.value},
                        {!setting.fits              ? "does not fit"
                         : setting.changes_numerics ? "other numerics"
                                                    : ""}});
    }
    return "<h3>With other settings</h3>" +
           html_table(
               "Each on its own. Closed form: as weft plan screens, scaled to the step simulated. Other numerics: "
               "what is computed is not the same to rounding.",
               {{"settings", Kind::text}, {"step"}, {"change"}, {"by", Kind::text}, {"memory"}, {"note", Kind::text}},
               rows, HtmlOrder::sortable) +
           (without.empty() ? std::string()
                            : html_details("Without a difference",
                                           "<p>" + xml_escaped(fmt::format("{}", fmt::join(without, ", "))) + "</p>")) +
           unknown_list(unknown);
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

std::string explanation_part(const PageExplanation& page) {
    return fmt::format("<p class=\"bottleneck\">The critical path is {}.</p>\n{}{}{}{}{}{}",
                       xml_escaped(bottleneck_text(page.explanation)), best_changes(page),
                       causes_table(page.explanation), stretches_list(page.explanation), knobs_picture(page),
                       settings_table(page), rooflines_part(page.explanation.rooflines));
}

}  // namespace weft
