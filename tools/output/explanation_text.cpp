#include "tools/output/explanation_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/io/units.hpp"
#include "tools/output/figures.hpp"
#include "tools/output/report_text.hpp"
#include "tools/output/text_table.hpp"

namespace weft {
namespace {

std::string time_text(std::int64_t ticks) { return to_text(since_start({ticks})); }
double share(std::int64_t ticks, Instant of) {
    return static_cast<double>(ticks) / static_cast<double>(of.femtoseconds);
}

std::string causes_text(const JobExplanation& explained) {
    const Explanation& found = explained.explanation;
    const bool has_pipeline = explained.report.stages.size() > 1;
    std::string out =
        has_pipeline ? fmt::format("the critical path of the step, for the most part on stage {}:\n", found.main_stage)
                     : "the critical path of the step:\n";
    std::vector<std::string> headings{"<cause", "time", "of step"};
    if (has_pipeline) headings.emplace_back("on other stages");
    TextTable table(headings);
    const auto add = [&](std::string name, std::int64_t ticks, std::int64_t elsewhere) {
        std::vector<std::string> cells{std::move(name), time_text(ticks), percent(share(ticks, found.end))};
        if (has_pipeline) cells.push_back(elsewhere == 0 ? "" : time_text(elsewhere));
        table.add(std::move(cells));
    };
    for (const ExplainedCause& each : main_causes(found)) add(cause_text(each.cause), each.ticks, each.elsewhere);
    add("step", found.end.femtoseconds, found.elsewhere());
    out += table.text(2);
    if (has_pipeline) out += "  on other stages: while the pipeline fills and drains\n";
    return out;
}

std::string passages_text(const Explanation& found) {
    std::string out = "its longest passages:\n";
    for (const PathStretch& passage : found.stretches) {
        out += fmt::format("  from {} on, {}: {}\n", to_text(since_start(passage.begin)),
                           to_text(passage.end - passage.begin), passage.text);
    }
    return out;
}

std::string slack_text(const Explanation& found) {
    TextTable table({"<off the path", "<", "calls", "least slack", "median slack"});
    for (const Slack& row : found.slack) {
        table.add(
            {row.dimension, row.op, grouped(static_cast<double>(row.calls)), to_text(row.least), to_text(row.median)});
    }
    return table.text();
}

std::string change_text(Seconds changed, Seconds own) { return fmt::format("{:+.2f} %", 100 * (changed / own - 1.0)); }

// As long as what is saved; nothing for what costs time.
std::string bar(Seconds changed, Seconds own, double widest) {
    constexpr double columns = 24;
    const double share = 1.0 - changed / own;
    if (widest <= 0.0) return {};
    return std::string(static_cast<std::size_t>(std::max(0.0, columns * share / widest) + 0.5), '#');
}

std::string negligible_text(const std::vector<std::string>& changes) {
    if (changes.empty()) return {};
    return fmt::format("less than {:.2f} % of difference: {}\n", 100 * no_difference, fmt::join(changes, ", "));
}

std::string unknown_text(const std::vector<std::string>& changes) {
    if (changes.empty()) return {};
    return fmt::format("not simulated, which alone would tell: {}\n", fmt::join(changes, ", "));
}

std::string knobs_text(const JobExplanation& explained) {
    const Seconds own = since_start(explained.explanation.end);
    double widest = 0;
    std::vector<std::string> negligible, unknown;
    for (const ExplainedKnob& knob : explained.knobs) {
        if (knob.is_told()) widest = std::max(widest, 1.0 - knob.step / own);
    }
    TextTable table({"<if it were otherwise", "<", "step", "", "<", "<"});
    for (const ExplainedKnob& knob : explained.knobs) {
        if (!knob.is_told()) {
            const double most = 100 * (1.0 - knob.step / own);
            unknown.push_back(fmt::format("{} {}{}", knob.knob, knob.change,
                                          most > 0 ? fmt::format(" (at most {:.2f} % less)", most) : ""));
            continue;
        }
        if (!makes_difference(knob.step, own)) {
            negligible.push_back(fmt::format("{} {}", knob.knob, knob.change));
            continue;
        }
        table.add({knob.knob, knob.change, to_text(knob.step), change_text(knob.step, own),
                   std::string(name(knob.means)), bar(knob.step, own, widest)});
    }
    return table.text() + negligible_text(negligible) + unknown_text(unknown);
}

std::string settings_text(const JobExplanation& explained) {
    const Seconds own = since_start(explained.explanation.end);
    TextTable table({"<with --set", "step", "", "<", "memory", "<"});
    bool numerics = false;
    std::vector<std::string> negligible, unknown;
    for (const ExplainedSetting& setting : explained.settings) {
        std::string text = assignments_text(setting);
        if (setting.means == Means::none) {
            unknown.push_back(std::move(text));
            continue;
        }
        if (setting.fits && !makes_difference(setting.step, own)) {
            negligible.push_back(std::move(text));
            continue;
        }
        numerics |= setting.changes_numerics;
        table.add({std::move(text), setting.fits ? to_text(setting.step) : "",
                   setting.fits ? change_text(setting.step, own) : "",
                   setting.fits ? std::string(name(setting.means)) : "", to_text(setting.memory),
                   !setting.fits              ? "does not fit"
                   : setting.changes_numerics ? "other numerics"
                                              : ""});
    }
    std::string out = table.text() + negligible_text(negligible) + unknown_text(unknown);
    if (numerics) out += "other numerics: what is computed is not the same to rounding\n";
    return out;
}

std::string means_text(const JobExplanation& explained) {
    const ChangesByMeans counts = changes_by_means(explained);
    std::string out = fmt::format("of {} changes simulated: {}", counts.all(), counts.simulated);
    if (counts.replayed > 0) {
        out +=
            fmt::format("; replayed: {} (every operation again, where links are shared as they were)", counts.replayed);
    }
    if (counts.first_order > 0) {
        out += fmt::format("; to first order: {} (what the path spends on it)", counts.first_order);
    }
    if (counts.closed_form > 0) {
        out += fmt::format("; in closed form: {}", counts.closed_form);
        if (explained.screening_error > 0) {
            out += fmt::format(" (against those simulated wrong by {} at most)", percent(explained.screening_error));
        }
    }
    return out + '\n';
}

}  // namespace

std::string explanation_text(const JobExplanation& explained) {
    std::string out = fmt::format("{}step time {}\n\n", subject_text(explained.report),
                                  to_text(since_start(explained.explanation.end)));
    out += causes_text(explained) + '\n' + passages_text(explained.explanation) + '\n';
    if (!explained.explanation.slack.empty()) out += slack_text(explained.explanation) + '\n';
    out += rooflines_text(explained.explanation.rooflines) + '\n';
    if (!explained.knobs.empty()) out += knobs_text(explained) + '\n';
    if (!explained.settings.empty()) out += settings_text(explained) + '\n';
    if (!explained.knobs.empty() || !explained.settings.empty()) out += means_text(explained);
    return out;
}

}  // namespace weft
