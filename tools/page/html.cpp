#include "tools/page/html.hpp"

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <cmath>
#include <cstdlib>

#include "sim/base/lists.hpp"
#include "sim/io/embedded.hpp"
#include "tools/version.hpp"

namespace weft {
namespace {

constexpr std::size_t tallest = 24;  // rows

std::string_view class_of(const Column& column) { return column.heading->starts_with('<') ? "" : " class=\"number\""; }

// To the left of the middle what is saved, to the right what is added.
std::string diverging_bar(double share) {
    const double wide = 50 * std::abs(share);
    const std::string mark =
        share == 0 ? ""
                   : fmt::format("<span style=\"left:{:.2f}%;width:{:.2f}%;background:var(--{})\"></span>",
                                 share < 0 ? 50 - wide : 50.0, wide, share < 0 ? "good" : "bad");
    return fmt::format("<td aria-hidden=\"true\"><span class=\"diverging\">{}</span></td>", mark);
}

// `tag`: td, or th for what the row is about.
std::string cell_html(const Column& column, const ResultCell& cell, std::string_view tag) {
    const double number = cell_number(cell);
    const std::string value = std::isfinite(number) ? fmt::format(" data-value=\"{}\"", number) : "";
    return fmt::format("<{0}{1}{2}{3}>{4}</{0}>", tag, tag == "th" ? " scope=\"row\"" : "", class_of(column), value,
                       xml_escaped(column.text(cell)));
}

// Inside a script element "<" could end it ("</script>") or open a comment that does; in JSON it occurs in strings
// only.
std::string script_safe(const std::string& json) { return boost::replace_all_copy(json, "<", "\\u003c"); }

// All scripts share one scope, which is nobody else's.
std::string own_script(const Page& page) {
    std::string script = "(() => {\n'use strict';\n";
    if (!page.data.empty()) script += "const data = JSON.parse(document.getElementById('data').textContent);\n";
    for (const std::string_view name : page.scripts) script += embedded::text_of(embedded::page_scripts(), name);
    return script + "})();\n";
}

std::string footer(const Page& page) {
    std::string out = fmt::format("<footer><p>weft {}</p>", version);
    if (page.charts == ChartLibrary::embedded) {
        out += fmt::format("<details><summary>Charts are drawn by uPlot; its licence</summary><pre>{}</pre></details>",
                           xml_escaped(embedded::text_of(embedded::chart_licenses(), "uplot")));
    }
    return out + "</footer>\n";
}

}  // namespace

std::string html_table(std::string_view caption, const ResultTable& table, const std::vector<HtmlBars>& bars) {
    std::int64_t most = 1;
    for (const HtmlBars& each : bars) {
        for (const std::int64_t value : each.values) most = std::max(most, std::abs(value));
    }
    const auto is_number = [](const ResultCell& cell) { return std::isfinite(cell_number(cell)); };
    const bool sorts = std::ranges::any_of(
        table.rows, [&](const std::vector<ResultCell>& row) { return std::ranges::any_of(row, is_number); });
    HtmlText html;
    const bool tall = table.rows.size() > tallest;  // scrolls on its own, by keyboard as well
    html.add(
        "<div class=\"scroll{}><table{}>",
        tall ? fmt::format(" tall\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"", xml_escaped(caption)) : "\"",
        sorts ? " class=\"sortable\"" : "");
    if (!caption.empty()) html.add("<caption>{}</caption>", xml_escaped(caption));
    html.put("<thead><tr>");
    std::vector<std::size_t> shown;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        const Column& column = table.columns[c];
        if (!column.heading) continue;
        shown.push_back(c);
        const std::string text = xml_escaped(column.heading->substr(column.heading->starts_with('<') ? 1 : 0));
        html.add("<th scope=\"col\"{}>{}</th>", class_of(column),
                 sorts && !text.empty() ? fmt::format("<button type=\"button\">{}</button>", text) : text);
        if (std::ranges::find(bars, c, &HtmlBars::behind) != bars.end()) html.put("<td></td>");
    }
    html.put("</tr></thead><tbody>\n");
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
        html.put("<tr>");
        for (const std::size_t c : shown) {
            html.put(cell_html(table.columns[c], table.rows[r][c], c == shown.front() ? "th" : "td"));
            const auto own = std::ranges::find(bars, c, &HtmlBars::behind);
            if (own == bars.end()) continue;
            html.put(r < own->values.size() ? diverging_bar(double(own->values[r]) / double(most)) : "<td></td>");
        }
        html.put("</tr>\n");
    }
    html.put("</tbody></table></div>\n");
    return html.take();
}

std::string html_cards(std::span<const HtmlCard> cards, std::string_view classes) {
    HtmlText html;
    html.add("<dl class=\"{}\">", classes);
    for (const HtmlCard& card : cards) {
        html.add("<div><dt>{}</dt><dd class=\"figure\">{}</dd><dd class=\"note\">{}</dd></div>", card.name, card.figure,
                 card.note);
    }
    html.add("</dl>");
    return html.take();
}

std::string html_made_by(std::string_view command) {
    const std::string words = boost::replace_all_copy(xml_escaped(command), " ", "</span> <span>");
    return fmt::format("<p class=\"quiet made\">Made by <code><span>{}</span></code></p>", words);
}

std::string html_links(std::span<const HtmlSection> sections) {
    return sum_of<std::string>(
        sections, [](const HtmlSection& each) { return fmt::format("<a href=\"#{}\">{}</a>", each.id, each.link); });
}

std::string html_sections(std::span<const HtmlSection> sections) {
    HtmlText html;
    for (const HtmlSection& each : sections) {
        html.add("<section id=\"{}\"><h2>{}</h2>", each.id, each.title);
        html.put(each.html + "</section>\n");
    }
    return html.take();
}

std::string html_items(std::span<const std::string> texts) {
    return sum_of<std::string>(texts, [](const std::string& text) { return "<li>" + xml_escaped(text) + "</li>"; });
}

std::string html_details(std::string_view summary, std::string_view html) {
    return fmt::format("<details class=\"data\"><summary>{}</summary>{}</details>\n", xml_escaped(summary), html);
}

std::string html_page(const Page& page) {
    const bool charts = page.charts == ChartLibrary::embedded;
    std::string styles(embedded::text_of(embedded::page_styles(), "page"));
    for (const std::string_view name : page.styles) styles += embedded::text_of(embedded::page_styles(), name);
    std::string out = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{0}</title>\n"
        "<link rel=\"icon\" href=\"data:,\">\n<style>{1}\n{2}</style>\n</head>\n<body>\n<main>\n<h1>{0}</h1>\n{3}{4}"
        "</main>\n",
        xml_escaped(page.title), charts ? embedded::text_of(embedded::chart_styles(), "uplot") : std::string_view(),
        styles, page.body, footer(page));
    if (!page.data.empty()) {
        out += "<script type=\"application/json\" id=\"data\">" + script_safe(page.data) + "</script>\n";
    }
    if (charts) out += fmt::format("<script>{}</script>\n", embedded::text_of(embedded::chart_scripts(), "uplot"));
    return out + fmt::format("<script>\n{}</script>\n</body>\n</html>\n", own_script(page));
}

}  // namespace weft
