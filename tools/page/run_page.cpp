#include "tools/page/pages.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "tools/output/figures.hpp"
#include "tools/output/svg_text.hpp"
#include "tools/page/html.hpp"
#include "tools/page/result_data.hpp"

namespace weft {
namespace {

std::string_view label_of(const RunQuantity& quantity) {
    const std::size_t begin = quantity.label.find_first_not_of(' ');  // the text indents
    return quantity.key == "joules_per_token" ? "energy per token" : quantity.label.substr(begin);
}

std::string cards(const RunResult& result) {
    std::vector<HtmlCard> cards;
    for (const std::string_view key : {"time_s", "goodput", "restarts", "energy_j", "joules_per_token", "cost"}) {
        const auto quantity = std::ranges::find(result.quantities, key, &RunQuantity::key);
        if (quantity == result.quantities.end()) continue;
        const Spread& spread = quantity->spread;
        const std::string low = run_cell(quantity->unit, spread.p5), high = run_cell(quantity->unit, spread.p95);
        cards.push_back({label_of(*quantity), run_cell(quantity->unit, spread.p50),
                         (low == high ? "the same" : low + " to " + high) + " in nine of ten runs"});
    }
    return html_cards(cards);
}

struct TimePart {
    std::string_view name;
    double mean = 0;
};

// Parts of so much, in the colours from `first` on.
std::string bar_row(std::string_view name, const std::vector<TimePart>& parts, double all, std::size_t first) {
    std::string bar;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (parts[i].mean <= 0) continue;
        bar += fmt::format("<span style=\"width:{:.4f}%;background:var(--series-{})\"></span>",
                           100 * parts[i].mean / all, first + i);
    }
    return fmt::format("<span>{}</span><div class=\"bar\">{}</div><span class=\"total\">{}</span>\n", name, bar,
                       run_cell(RunUnit::time, all));
}

// Bars of the whole run, and of what of it does not count.
std::string losses(const RunResult& result) {
    const double wall = result.quantity("time_s").spread.mean;
    std::vector<TimePart> lost;
    double all_lost = 0;
    for (const RunQuantity& each : result.quantities) {
        if (!is_part(each)) continue;
        lost.push_back({label_of(each), each.spread.mean});
        all_lost += each.spread.mean;
    }
    std::vector<TimePart> parts{{"steps that count", wall - all_lost}};
    parts.insert(parts.end(), lost.begin(), lost.end());
    HtmlText html;
    html.put("<ul class=\"legend\">");
    for (std::size_t i = 0; i < parts.size(); ++i) {
        html.put(
            fmt::format("<li><span class=\"swatch\" style=\"background:var(--series-{})\"></span>{}: {}, {:.2f} %</li>",
                        i, parts[i].name, run_cell(RunUnit::time, parts[i].mean), 100 * parts[i].mean / wall));
    }
    html.put("</ul>\n<div class=\"bars\">\n" + bar_row("the run", parts, wall, 0));
    if (all_lost > 0) html.put(bar_row("what is lost", lost, all_lost, 1));
    html.put("</div>\n");
    return html.take();
}

std::string facts(const RunResult& result) {
    std::string html = html_table("", run_facts(result));
    if (result.plan.assumptions.empty()) return html;
    return html + "<h3>Assumed</h3><ul>" + html_items(result.plan.assumptions) + "</ul>\n";
}

struct AxisScaleOf {
    double size;
    std::string_view unit;
};

// Of an axis up to so much.
AxisScaleOf axis_of(RunUnit unit, double most) {
    if (unit == RunUnit::time) {
        return most >= 86400 ? AxisScaleOf{86400, "d"} : most >= 3600 ? AxisScaleOf{3600, "h"} : AxisScaleOf{1, "s"};
    }
    if (unit == RunUnit::share) return {0.01, "%"};
    if (unit == RunUnit::energy) return {3.6e9, "MWh"};
    return {1, unit == RunUnit::per_token ? "J" : ""};
}

// Of each quantity: the begins of bins, the last one's end, and the share of runs in each; or what all runs have alike.
std::string distributions(const RunResult& result) {
    Json all = Json::array();
    for (const RunQuantity& each : result.quantities) {
        const Distribution& d = each.distribution;
        const std::string least = run_cell(each.unit, d.least), greatest = run_cell(each.unit, d.greatest);
        if (d.is_narrow()) {
            const std::string alike =
                d.least == d.greatest ? least + " in all runs"
                                      : fmt::format("all runs within {:.2g} %, at {}", 100 * (1 - d.least / d.greatest),
                                                    least == greatest ? least : least + " to " + greatest);
            all.push_back({{"name", label_of(each)}, {"alike", alike}});
            continue;
        }
        const AxisScaleOf axis = axis_of(each.unit, d.greatest);
        Json at = Json::array(), share = Json::array();
        for (std::size_t i = 0; i <= d.counts.size(); ++i) {
            at.push_back((d.least + (d.greatest - d.least) * double(i) / double(d.counts.size())) / axis.size);
            if (i < d.counts.size()) share.push_back(double(d.counts[i]) / double(result.samples));
        }
        all.push_back(
            {{"name", label_of(each)}, {"unit", axis.unit}, {"at", std::move(at)}, {"share", std::move(share)}});
    }
    return data_text(Json{{"distributions", std::move(all)}});
}

}  // namespace

std::string run_page(const Job& job, const MachineInfo& machine, const RunResult& result, const std::string& command) {
    HtmlText html;
    html.add("<p class=\"lead\">{}<br>{}</p>", xml_escaped(run_heading(job, machine)), played_text(result));
    html.put(cards(result) + "<section><h2>Where the time goes</h2>" + losses(result) + "</section>\n");
    html.put(
        "<section><h2>Distribution over the runs played</h2><div id=\"distribution\"></div>\n<noscript><p>The chart "
        "needs JavaScript.</p></noscript></section>\n");
    html.put("<section><h2>All figures</h2>" +
             html_table("Quantiles and means over the runs played.", run_quantities(result, label_of)) +
             "</section>\n");
    html.put("<section><h2>Played with</h2>" + facts(result) + "</section>\n");
    html.add("{}", html_made_by(command));
    return html_page({.title = fmt::format("A run of {} on {}", model_text(job.model), machine.name),
                      .body = html.take(),
                      .data = distributions(result),
                      .scripts = {"format", "theme", "chart", "run"},
                      .charts = ChartLibrary::embedded});
}

}  // namespace weft
