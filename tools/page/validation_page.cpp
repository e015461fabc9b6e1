#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cmath>

#include "tools/output/columns.hpp"
#include "tools/output/svg_text.hpp"
#include "tools/output/validation_text.hpp"
#include "tools/page/html.hpp"
#include "tools/page/pages.hpp"
#include "tools/page/result_data.hpp"
#include "tools/version.hpp"

namespace weft {
namespace {

std::string summary(const Validation& v) {
    const ErrorStatistics& errors = v.card.predict;
    std::string text = fmt::format("<p>weft {}. {} measurements of {} sets: {} predicted, {} fitted to.", version,
                                   v.rows.size(), v.sets.size(), errors.rows, v.card.fit.rows);
    if (errors.rows > 0) {
        text += fmt::format(
            " Of the predicted ones, the mean absolute error is {}, the median {}; nine of ten lie within {}.",
            percent(errors.mean), percent(errors.median), percent(errors.percentile_90));
    }
    return text +
           fmt::format(" <strong class=\"{}\">{}</strong></p>\n", v.card.passed() ? "good" : "bad", verdict_text(v));
}

// What is predicted is open, the others are behind a line.
std::string scores(const Validation& v, RowUse use, std::string_view title) {
    const ErrorStatistics& errors = v.card.of(use);
    if (errors.rows == 0) return "";
    const std::string table =
        html_table("Absolute relative errors; bias is the mean of the signed ones.", scores_table(v, use));
    if (use == RowUse::predict) return fmt::format("<section><h2>{}</h2>{}</section>\n", title, table);
    return html_details(fmt::format("{}: {} rows, mean {}", title, errors.rows, percent(errors.mean)), table);
}

// Each behind a line that says how far off it is.
std::string set_details(const ValidationSet& set, const SetScore& score) {
    const std::string told = comma_list(std::array{RowUse::predict, RowUse::fit, RowUse::disturbed}, [&](RowUse use) {
        const ErrorStatistics& errors = score.of(use);
        return errors.rows == 0 ? ""
                                : fmt::format("{} {}: {}", errors.rows, enumerator_name(use), percent(errors.mean));
    });
    HtmlText html;
    html.add(
        "<details class=\"set\" data-set=\"{1}\"><summary>{0} <span class=\"quiet\">({1}; {2})</span></summary>"
        "<p>{3}</p>",
        xml_escaped(set.title), xml_escaped(set.name), told, xml_escaped(set.source));
    if (!set.assumptions.empty()) {
        html.put("<p class=\"quiet\">Assumed:</p><ul>");
        for (const std::string& assumption : set.assumptions) html.add("<li>{}</li>", xml_escaped(assumption));
        html.put("</ul>");
    }
    if (!set.cause.empty()) html.add("<p>Why rows are off by more than 10 %: {}</p>", xml_escaped(set.cause));
    html.add("<div class=\"scatter\"></div></details>");
    return html.take();
}

// Every row as it is shown, and the numbers that are drawn of it.
std::string rows_data(const Validation& v) {
    using Row = ValidatedRow;
    const auto source = [&](const Row& row) -> const ValidationRow& { return v.sets[row.set].rows[row.row]; };
    constexpr auto key = ColumnKind::key;
    Json json = result_json(table_of<Row>(
        v.rows,
        {{"set", "", "", [&](const Row& row) { return v.sets[row.set].name; }, key},
         {"use", "", "", [&](const Row& row) { return enumerator_name(source(row).use); }, key},
         {"quantity", "", "", &Row::quantity, key},
         {"row", "", "", [&](const Row& row) { return source(row).name; }},
         {"measured", "", "", [](const Row& row) { return quantity_text(row.quantity, row.measured); }},
         {"predicted", "", "", [](const Row& row) { return quantity_text(row.quantity, row.predicted); }},
         {"error_percent", "%", "predicted over measured, less one", [](const Row& row) { return 100 * row.error(); }},
         {"absolute_error_percent", "%", "", [](const Row& row) { return 100 * std::abs(row.error()); }},
         {"note", "", "",
          [&](const Row& row) { return source(row).disturbed.empty() ? source(row).note : source(row).disturbed; },
          ColumnKind::note}}));
    for (const Row& row : v.rows) {
        json["measured"].push_back(row.measured);
        json["predicted"].push_back(row.predicted);
        json["units"].push_back(quantity_unit(row.quantity));
    }
    return data_text(json);
}

}  // namespace

std::string validation_page(const Validation& v) {
    std::string body = summary(v) + scores(v, RowUse::predict, "Rows that nothing was fitted to") +
                       "<section><h2>Predicted over measured</h2><p>On the dashed line they are equal; the thin ones "
                       "are 10 % to either side.</p><div id=\"all\"></div>\n<noscript><p>Charts and rows need "
                       "JavaScript.</p></noscript></section>\n" +
                       scores(v, RowUse::fit, "Rows that constants were fitted to") +
                       scores(v, RowUse::disturbed, "Disturbed measurements, not judged") +
                       "<section><h2>Sets</h2><p>Each with its chart, its source and what was assumed.</p>\n";
    for (std::size_t s = 0; s < v.sets.size(); ++s) body += set_details(v.sets[s], v.card.sets[s]);
    body += "</section>\n<section><h2>Every row</h2><div id=\"rows\"></div></section>\n";
    return html_page({.title = "Predictions beside measurements",
                      .body = std::move(body),
                      .data = rows_data(v),
                      .scripts = {"table", "format", "theme", "chart", "result_table", "validation"},
                      .charts = ChartLibrary::embedded});
}

}  // namespace weft
