
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "tools/output/chart.hpp"
#include "tools/output/figures.hpp"
#include "tools/output/svg_text.hpp"
#include "tools/output/validation_text.hpp"
#include "tools/page/html.hpp"
#include "tools/validate/run.hpp"
#include "tools/version.hpp"

namespace weft {
namespace {

class ValidationPage {
  public:
    explicit ValidationPage(const Validation& validation) : v_(validation) {}

    std::string body() {
        summary();
        scores(RowUse::predict, "Rows that nothing was fitted to");
        chart_of_all();
        scores(RowUse::fit, "Rows that constants were fitted to");
        scores(RowUse::disturbed, "Disturbed measurements, not judged");
        sets();
        rows();
        return html_.take();
    }

  private:
    const ValidationSet& set_of(const ValidatedRow& row) const { return v_.sets[row.set]; }
    const ValidationRow& source_of(const ValidatedRow& row) const { return set_of(row).rows[row.row]; }

    void summary() {
        const ErrorStatistics& errors = v_.card.predict;
        html_.add("<p>weft {}. {} measurements of {} sets: {} predicted, {} fitted to.", version, v_.rows.size(),
                  v_.sets.size(), errors.rows, v_.card.fit.rows);
        if (errors.rows > 0) {
            html_.add("Of the predicted ones, the mean absolute error is {}, the median {}; nine of ten lie within {}.",
                      percent(errors.mean), percent(errors.median), percent(errors.percentile_90));
        }
        html_.add("<strong class=\"{}\">{}</strong></p>", v_.card.passed() ? "good" : "bad", verdict_text(v_));
    }

    // The summary of what is predicted is open, the others are behind a line.
    void scores(RowUse use, std::string_view title) {
        if (v_.card.of(use).rows == 0) return;
        const bool open = use == RowUse::predict;
        if (open) {
            html_.add("<section><h2>{}</h2>", title);
        } else {
            html_.add("<section><details class=\"data\"><summary>{}: {} rows, mean {}</summary>", title,
                      v_.card.of(use).rows, percent(v_.card.of(use).mean));
        }
        html_.add(
            "<div class=\"scroll\"><table><caption>Absolute relative errors; bias is the mean of the signed ones. A "
            "set's name opens it.</caption><thead><tr><th scope=\"col\">set</th>");
        for (const char* heading : {"rows", "mean"}) {
            html_.add("<th scope=\"col\" class=\"number\">{}</th>", heading);
        }
        html_.add("<th scope=\"col\">bound</th><th scope=\"col\">status</th>");
        for (const char* heading : {"median", "p90", "max", "bias"}) {
            html_.add("<th scope=\"col\" class=\"number\">{}</th>", heading);
        }
        html_.add("</tr></thead><tbody>");
        for (std::size_t s = 0; s < v_.sets.size(); ++s) {
            const SetScore& score = v_.card.sets[s];
            if (score.of(use).rows == 0) continue;
            html_.add("<tr><th scope=\"row\"><a href=\"#set-{}\">{}</a></th>", s, xml_escaped(v_.sets[s].name));
            error_cells(score.of(use), bounds_html(score, use), status_html(score, use));
        }
        html_.add("<tr><th scope=\"row\">all</th>");
        error_cells(v_.card.of(use), "", "");
        html_.add("</tbody></table></div>{}</section>", open ? "" : "</details>");
    }

    void error_cells(const ErrorStatistics& errors, const std::string& bounds, const std::string& status) {
        html_.add("<td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"bound\">{}</td><td>{}</td>",
                  errors.rows, percent(errors.mean), bounds, status);
        for (const double value : {errors.median, errors.percentile_90, errors.largest}) {
            html_.add("<td class=\"number\">{}</td>", percent(value));
        }
        html_.add("<td class=\"number\">{}</td></tr>", signed_percent_text(errors.bias));
    }

    static std::string bounds_html(const SetScore& score, RowUse use) {
        std::string text;
        for (const BoundCheck& check : score.bounds) {
            if (check.use != use) continue;
            text += fmt::format("{}<span{}>{} {}</span>", text.empty() ? "" : ", ",
                                check.holds() ? "" : " class=\"bad\"", check.what, percent(check.bound));
        }
        return text;
    }

    static std::string status_html(const SetScore& score, RowUse use) {
        bool judged = false, holds = true;
        for (const BoundCheck& check : score.bounds) {
            if (check.use != use) continue;
            judged = true;
            holds = holds && check.holds();
        }
        if (!judged) return "<span class=\"quiet\">not judged</span>";
        return holds ? "<span class=\"good\">holds</span>" : "<span class=\"bad\">broken</span>";
    }

    void chart_of_all() {
        html_.add(
            "<section><h2>Predicted over measured</h2><p>On the dashed line they are equal; the band is 10 % to either "
            "side. Discs are predicted, hollow diamonds were fitted to.</p><div class=\"figures\">");
        chart("All sets", v_.sets.size());
        html_.add("</div></section>");
    }

    // Times and sizes do not share an axis.
    // Of one set, or of all where `set` is past the last.
    void chart(const std::string& title, std::size_t set) {
        std::map<std::string_view, Scatter> by_unit;
        for (const ValidatedRow& row : v_.rows) {
            if (set < v_.sets.size() && row.set != set) continue;
            if (source_of(row).use == RowUse::disturbed) continue;
            const std::string_view unit = quantity_unit(row.quantity);
            by_unit[unit].points.push_back(
                {.measured = row.measured,
                 .predicted = row.predicted,
                 .mark = source_of(row).use == RowUse::fit ? ScatterPoint::Mark::fit : ScatterPoint::Mark::predict,
                 .hint = fmt::format("{}, {}: measured {}, predicted {} ({})", set_of(row).name, source_of(row).name,
                                     quantity_text(row.quantity, row.measured),
                                     quantity_text(row.quantity, row.predicted), signed_percent_text(row.error()))});
        }
        for (auto& [unit, scatter] : by_unit) {
            scatter.unit = unit;
            scatter.title = title + ", predicted over measured";
            html_.add("<figure><figcaption>{}{}</figcaption>{}</figure>", xml_escaped(title),
                      by_unit.size() > 1 && !unit.empty() ? fmt::format(" ({})", unit) : "", scatter_svg(scatter));
        }
    }

    void rows() {
        html_.add(
            "<section><h2>Every row</h2><div class=\"controls\">"
            "<label>Rows with <input type=\"search\" data-filter=\"rows\" placeholder=\"any text\"></label>"
            "<label>Set <select data-filter=\"rows\" data-column=\"0\"><option value=\"\">any</option>");
        for (const ValidationSet& set : v_.sets) html_.add("<option>{}</option>", xml_escaped(set.name));
        html_.add(
            "</select></label><label>Use <select data-filter=\"rows\" data-column=\"2\"><option value=\"\">any</option>"
            "<option>predict</option><option>fit</option><option>disturbed</option></select></label>"
            "<span class=\"quiet\" role=\"status\"><span data-count=\"rows\">{}</span> shown</span></div>",
            v_.rows.size());
        html_.add(
            "<div class=\"scroll tall\" tabindex=\"0\" role=\"region\" aria-label=\"Every row\"><table id=\"rows\" "
            "class=\"sortable\"><caption>A click on a heading sorts.</caption>"
            "<thead><tr>");
        for (const char* heading : {"set", "row", "use", "quantity"}) {
            html_.add("<th scope=\"col\"><button type=\"button\">{}</button></th>", heading);
        }
        for (const char* heading : {"measured", "predicted", "error", "|error|"}) {
            html_.add("<th scope=\"col\" class=\"number\"><button type=\"button\">{}</button></th>", heading);
        }
        html_.add("</tr></thead><tbody>");
        for (const ValidatedRow& row : v_.rows) one_row(row);
        html_.add("</tbody></table></div></section>");
    }

    void one_row(const ValidatedRow& row) {
        const ValidationRow& source = source_of(row);
        const std::string& note = source.disturbed.empty() ? source.note : source.disturbed;
        html_.add("<tr><td>{}</td><th scope=\"row\">{}{}</th><td>{}</td><td>{}</td>", xml_escaped(set_of(row).name),
                  xml_escaped(source.name),
                  note.empty() ? "" : fmt::format("<br><span class=\"quiet\">{}</span>", xml_escaped(note)),
                  name(source.use), xml_escaped(row.quantity));
        number_cell(row.measured, quantity_text(row.quantity, row.measured));
        number_cell(row.predicted, quantity_text(row.quantity, row.predicted));
        number_cell(row.error(), signed_percent_text(row.error()));
        number_cell(std::abs(row.error()), percent(std::abs(row.error())));
        html_.add("</tr>");
    }

    void number_cell(double value, const std::string& text) {
        html_.add("<td class=\"number\" data-value=\"{}\">{}</td>", value, xml_escaped(text));
    }

    // Each behind a line that says how far off it is.
    void sets() {
        html_.add("<section><h2>Sets</h2><p>Each with its chart, its source and what was assumed.</p>");
        for (std::size_t s = 0; s < v_.sets.size(); ++s) set_details(s);
        html_.add("</section>");
    }

    void set_details(std::size_t s) {
        const ValidationSet& set = v_.sets[s];
        std::string told;
        for (const RowUse use : {RowUse::predict, RowUse::fit, RowUse::disturbed}) {
            const ErrorStatistics& errors = v_.card.sets[s].of(use);
            if (errors.rows == 0) continue;
            told += fmt::format("{}{} {}: {}", told.empty() ? "" : ", ", errors.rows, name(use), percent(errors.mean));
        }
        html_.add(
            "<details class=\"set\" id=\"set-{}\"><summary>{} <span class=\"quiet\">({}; {})</span></summary><p>{}</p>",
            s, xml_escaped(set.title), xml_escaped(set.name), told, xml_escaped(set.source));
        if (!set.assumptions.empty()) {
            html_.add("<p class=\"quiet\">Assumed:</p><ul>");
            for (const std::string& assumption : set.assumptions) html_.add("<li>{}</li>", xml_escaped(assumption));
            html_.add("</ul>");
        }
        if (v_.sets.size() > 1) {
            html_.add("<div class=\"figures\">");
            chart(set.title, s);
            html_.add("</div>");
        }
        html_.add("</details>");
    }

    const Validation& v_;
    MarkupText html_;
};

}  // namespace

std::string validation_html(const Validation& validation) {
    return html_page({.title = "Predictions beside measurements",
                      .body = ValidationPage(validation).body(),
                      .scripts = {"table", "opened_details"}});
}

}  // namespace weft
