#include "tools/page/stage_bars.hpp"

#include <algorithm>
#include <vector>

#include "sim/io/units.hpp"
#include "tools/output/svg_text.hpp"
#include "tools/page/html.hpp"

namespace weft {
namespace {

constexpr std::size_t most_bars = 17;

// A part of a bar. `colour` is a variable of page.css.
struct Part {
    std::string name, colour;
    double seconds = 0;
};

struct StageRow {
    std::string name;
    std::vector<Part> parts;  // the same ones in every row
};

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

StageRow stage_row(const StageReport& stage, const std::vector<std::string>& names, double bubble) {
    StageRow row{.name = stage.name, .parts = {}};
    row.parts.push_back({"forward and backward", "compute", stage.compute.value - stage.optimizer.value});
    row.parts.push_back({"optimizer", "optimizer", stage.optimizer.value});
    for (const std::string& name : names) {
        const auto own = std::ranges::find(stage.dimensions, name, &DimensionTime::dimension);
        row.parts.push_back({name, colour_of(name), own == stage.dimensions.end() ? 0.0 : own->time.value});
    }
    row.parts.push_back({"pipeline bubble", "bubble", std::min(stage.idle.value, bubble)});
    row.parts.push_back({"stage imbalance", "imbalance", std::max(0.0, stage.idle.value - bubble)});
    return row;
}

// Ranks count alike.
StageRow mean_row(const std::vector<StageRow>& rows, const Report& report) {
    StageRow mean{.name = "all ranks", .parts = rows.front().parts};
    for (Part& part : mean.parts) part.seconds = 0;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        const double share = double(report.stages[r].ranks) / report.ranks;
        for (std::size_t i = 0; i < mean.parts.size(); ++i) mean.parts[i].seconds += rows[r].parts[i].seconds * share;
    }
    return mean;
}

void drop_empty_parts(std::vector<StageRow>& rows) {
    for (std::size_t i = rows.front().parts.size(); i-- > 0;) {
        if (std::ranges::any_of(rows, [i](const StageRow& row) { return row.parts[i].seconds > 0; })) continue;
        for (StageRow& row : rows) row.parts.erase(row.parts.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

// All of them, or as many at equal distances with the first two (all ranks, the first stage) and the last.
std::vector<StageRow> shown_rows(const std::vector<StageRow>& rows) {
    if (rows.size() <= most_bars) return rows;
    std::vector<StageRow> shown{rows.front()};
    for (std::size_t i = 0; i + 1 < most_bars; ++i) shown.push_back(rows[1 + i * (rows.size() - 2) / (most_bars - 2)]);
    return shown;
}

std::string share_text(double seconds, double step) {
    return fmt::format("{} ({:.1f} %)", to_text(Seconds{seconds}), 100 * seconds / step);
}

std::string bar(const StageRow& row, double step) {
    std::string told, marks;
    for (const Part& part : row.parts) {
        if (part.seconds <= 0) continue;
        const std::string text = part.name + ' ' + share_text(part.seconds, step);
        told += (told.empty() ? "" : ", ") + text;
        marks += fmt::format("<span style=\"width:{:.3f}%;background:var(--{})\" title=\"{}\"></span>",
                             100 * part.seconds / step, part.colour, xml_escaped(text));
    }
    return fmt::format("<div class=\"bar\" role=\"img\" aria-label=\"{}: {}\">{}</div>", xml_escaped(row.name),
                       xml_escaped(told), marks);
}

std::string table(const std::vector<StageRow>& rows, double step) {
    std::vector<HtmlColumn> columns{{"", HtmlColumn::Kind::text}};
    for (const Part& part : rows.front().parts) columns.push_back({part.name});
    std::vector<std::vector<HtmlCell>> cells;
    for (const StageRow& row : rows) {
        cells.push_back({{row.name}});
        for (const Part& part : row.parts) cells.back().push_back({share_text(part.seconds, step), part.seconds});
    }
    return html_table("Time and share of the step, mean over the ranks of a stage.", columns, cells);
}

}  // namespace

std::string stage_bars(const Report& report) {
    const double step = report.metric("step.time_s"), bubble = report.metric("step.bubble_s");
    const std::vector<std::string> names = dimensions(report);
    std::vector<StageRow> rows;
    for (const StageReport& stage : report.stages) rows.push_back(stage_row(stage, names, bubble));
    if (rows.size() > 1) rows.insert(rows.begin(), mean_row(rows, report));
    drop_empty_parts(rows);
    HtmlText html;
    html.put("<ul class=\"legend\">");
    for (const Part& part : rows.front().parts) {
        const bool exposed = std::ranges::find(names, part.name) != names.end();
        html.put(fmt::format("<li><span class=\"swatch\" style=\"background:var(--{})\"></span>{}{}</li>", part.colour,
                             xml_escaped(part.name), exposed ? ", exposed" : ""));
    }
    html.put("</ul>\n<div class=\"bars\">\n");
    const std::vector<StageRow> shown = shown_rows(rows);
    for (const StageRow& row : shown) {
        double busy = 0;
        for (const Part& part : row.parts) {
            if (part.colour == "compute" || part.colour == "optimizer") busy += part.seconds;
        }
        html.add("<span>{}</span>{}<span class=\"total\">{:.1f} % computing</span>", xml_escaped(row.name),
                 bar(row, step), 100 * busy / step);
    }
    html.put("</div>\n");
    if (shown.size() < rows.size()) {
        html.add("<p class=\"quiet\">{} of {} stages are drawn; the table has all.</p>", shown.size() - 1,
                 rows.size() - 1);
    }
    html.put(html_details("Times as a table", table(rows, step)));
    return html.take();
}

}  // namespace weft
