#include "tools/page/simulation_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "sim/io/units.hpp"
#include "tools/output/svg_text.hpp"
#include "tools/page/html.hpp"
#include "workloads/step/lanes.hpp"

namespace weft {
namespace {

constexpr std::size_t most_bars = 17;

// Dimensions with a colour of their own; others share one.
std::string colour_of(const std::string& dimension) {
    if (dimension == "expert data" || dimension == "expert tensor") return "expert-data";
    for (const std::string_view known : {"tensor", "data", "pipeline", "context", "expert"}) {
        if (dimension.starts_with(known)) return std::string(known);
    }
    return "model";
}

std::vector<std::string> dimensions(const Report& report) {
    std::vector<std::string> names;
    for (const StageReport& stage : report.stages) {
        for (const DimensionTime& each : stage.dimensions) {
            if (std::ranges::find(names, each.dimension) == names.end()) names.push_back(each.dimension);
        }
    }
    return names;
}

BarRow stage_row(const StageReport& stage, const std::vector<std::string>& names, double bubble) {
    BarRow row{.name = stage.name, .parts = {}, .ranks = stage.ranks};
    row.parts.push_back({"forward and backward", "compute", stage.compute.value - stage.optimizer.value});
    row.parts.push_back({"optimizer", "optimizer", stage.optimizer.value});
    for (const std::string& name : names) {
        const auto own = std::ranges::find(stage.dimensions, name, &DimensionTime::dimension);
        row.parts.push_back(
            {name, colour_of(name), own == stage.dimensions.end() ? 0.0 : own->time.value, ", exposed"});
    }
    row.parts.push_back({"pipeline bubble", "bubble", std::min(stage.idle.value, bubble)});
    row.parts.push_back({"stage imbalance", "imbalance", std::max(0.0, stage.idle.value - bubble)});
    return row;
}

void drop_empty_parts(std::vector<BarRow>& rows) {
    for (std::size_t i = rows.front().parts.size(); i-- > 0;) {
        if (std::ranges::any_of(rows, [i](const BarRow& row) { return row.parts[i].seconds > 0; })) continue;
        for (BarRow& row : rows) row.parts.erase(row.parts.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

// All of them, or as many at equal distances with the first two (all ranks, the first stage) and the last.
std::vector<BarRow> shown_rows(const std::vector<BarRow>& rows) {
    if (rows.size() <= most_bars) return rows;
    std::vector<BarRow> shown{rows.front()};
    for (const std::size_t i : equally_spaced(rows.size() - 1, most_bars - 1)) shown.push_back(rows[1 + i]);
    return shown;
}

std::string share_text(double seconds, double step) {
    return fmt::format("{} ({:.1f} %)", to_text(Seconds{seconds}), 100 * seconds / step);
}

std::string bar(const BarRow& row, double step) {
    std::string told, marks;
    for (const BarPart& part : row.parts) {
        if (part.seconds <= 0) continue;
        const std::string text = part.name + ' ' + share_text(part.seconds, step);
        told += (told.empty() ? "" : ", ") + text;
        marks += fmt::format("<span style=\"width:{:.3f}%;background:var(--{})\" title=\"{}\"></span>",
                             100 * part.seconds / step, part.colour, xml_escaped(text));
    }
    return fmt::format("<div class=\"bar\" role=\"img\" aria-label=\"{}: {}\">{}</div>", xml_escaped(row.name),
                       xml_escaped(told), marks);
}

std::string table(const std::vector<BarRow>& rows, double step, std::string_view caption) {
    std::vector<std::string> headings{"<"};
    for (const BarPart& part : rows.front().parts) headings.push_back(part.name);
    TextTable table(std::move(headings));
    for (const BarRow& row : rows) {
        std::vector<std::string> cells{row.name};
        for (const BarPart& part : row.parts) cells.push_back(share_text(part.seconds, step));
        table.add(std::move(cells));
    }
    return html_table(caption, table);
}

constexpr double highest_bar = 34;  // pixels

// A power of two is a whole number in its unit.
std::string edge_text(Bytes from) {
    if (from == Bytes{}) return "empty";
    const std::string text = to_text(from);
    const std::size_t point = text.find('.'), unit = text.find(' ');
    return point < unit ? text.substr(0, point) + text.substr(unit) : text;
}

}  // namespace

BarRow mean_row(const std::vector<BarRow>& rows) {
    BarRow mean{.name = "all ranks", .parts = rows.front().parts};
    for (BarPart& part : mean.parts) part.seconds = 0;
    for (const BarRow& row : rows) mean.ranks += row.ranks;
    for (const BarRow& row : rows) {
        const double share = double(row.ranks) / mean.ranks;
        for (std::size_t i = 0; i < mean.parts.size(); ++i) mean.parts[i].seconds += row.parts[i].seconds * share;
    }
    return mean;
}

std::string stage_bars(const Report& report) {
    const double step = report.metric("step.time_s"), bubble = report.metric("step.bubble_s");
    const std::vector<std::string> names = dimensions(report);
    auto rows = list_of<BarRow>(report.stages, [&](const auto& stage) { return stage_row(stage, names, bubble); });
    if (rows.size() > 1) rows.insert(rows.begin(), mean_row(rows));
    return time_bars(std::move(rows), step, "stages", "Time and share of the step, mean over the ranks of a stage.");
}

std::string time_bars(std::vector<BarRow> rows, double step, std::string_view what, std::string_view caption) {
    drop_empty_parts(rows);
    HtmlText html;
    html.put("<ul class=\"legend\">");
    for (const BarPart& part : rows.front().parts) {
        html.put(fmt::format("<li><span class=\"swatch\" style=\"background:var(--{})\"></span>{}{}</li>", part.colour,
                             xml_escaped(part.name), part.note));
    }
    html.put("</ul>\n<div class=\"bars\">\n");
    const std::vector<BarRow> shown = shown_rows(rows);
    for (const BarRow& row : shown) {
        double busy = 0;
        for (const BarPart& part : row.parts) {
            if (part.colour == "compute" || part.colour == "optimizer") busy += part.seconds;
        }
        html.add("<span>{}</span>{}<span class=\"total\">{:.1f} % computing</span>", xml_escaped(row.name),
                 bar(row, step), 100 * busy / step);
    }
    html.put("</div>\n");
    if (shown.size() < rows.size()) {
        html.add("<p class=\"quiet\">{} of {} {} are drawn; the table has all.</p>", shown.size() - 1, rows.size() - 1,
                 what);
    }
    html.put(html_details("Times as a table", table(rows, step, caption)));
    return html.take();
}

std::vector<MessageCount> message_counts(const Simulation& run) {
    const Program& program = run.step.program;
    std::map<std::pair<LaneId, CommunicationId>, double> calls;
    const auto ranks = sum_of<double>(program.classes, &RankClass::weight);
    for (const RankClass& rank_class : program.classes) {
        for (std::uint32_t i = rank_class.first_op; i < rank_class.first_op + rank_class.ops; ++i) {
            const Op& op = program.ops[OpId{i}];
            if (op.kind != OpKind::exchange) continue;
            calls[{op.lane, program.communication_of(op)}] += rank_class.weight / ranks;
        }
    }
    std::vector<MessageCount> counts;
    for (const auto& [what, count] : calls) {
        const Communication& call = program.communications[what.second];
        counts.push_back({.op = lanes::dimension_name(what.first) + ' ' + lanes::operation_name(call.op, what.first),
                          .message = call.message,
                          .calls = count});
    }
    return counts;
}

std::string message_table(const std::vector<HistogramBin>& bins) {
    std::set<Bytes> edges;
    for (const HistogramBin& bin : bins) edges.insert(bin.from);
    HtmlText html;
    html.put(
        "<div class=\"scroll\"><table class=\"messages snug\"><caption>Calls per rank and step by size of the message, "
        "from the size in the heading up to twice as much.</caption><thead><tr><th scope=\"col\"></th>");
    for (const Bytes from : edges) html.put(fmt::format("<th scope=\"col\">{}</th>", edge_text(from)));
    html.put("</tr></thead><tbody>\n");
    for_each_operation(bins, [&](std::span<const HistogramBin> own) {
        const auto all = sum_of<double>(own, &HistogramBin::calls);
        const double most = std::ranges::max(own, {}, &HistogramBin::calls).calls;
        html.put(fmt::format("<tr><th scope=\"row\">{}</th>", xml_escaped(own.front().op)));
        for (const Bytes from : edges) {
            const auto bin = std::ranges::find(own, from, &HistogramBin::from);
            html.put(bin == own.end()
                         ? "<td></td>"
                         : fmt::format("<td title=\"{0:.4g} calls ({1:.1f} %), {2}\">{0:.4g}<span class=\"bar\" "
                                       "style=\"height:{3:.0f}px\"></span></td>",
                                       bin->calls, 100 * bin->calls / all, to_text(bin->bytes),
                                       std::max(1.0, highest_bar * bin->calls / most)));
        }
        html.put("</tr>\n");
    });
    html.put("</tbody></table></div>\n");
    return html.take();
}

}  // namespace weft
