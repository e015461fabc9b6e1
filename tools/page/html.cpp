#include "tools/page/html.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "sim/base/check.hpp"
#include "sim/io/embedded.hpp"
#include "tools/version.hpp"

namespace weft {
namespace {

constexpr std::size_t tallest = 24;  // rows

std::string_view class_of(const HtmlColumn& column) {
    return column.kind == HtmlColumn::Kind::number ? " class=\"number\"" : "";
}

// To the left of the middle what is saved, to the right what is added.
std::string diverging_bar(const std::optional<double>& share) {
    if (!share) return "<td></td>";
    const double wide = 50 * std::abs(*share);
    const std::string mark =
        *share == 0 ? ""
                    : fmt::format("<span style=\"left:{:.2f}%;width:{:.2f}%;background:var(--{})\"></span>",
                                  *share < 0 ? 50 - wide : 50.0, wide, *share < 0 ? "good" : "bad");
    return fmt::format("<td aria-hidden=\"true\"><span class=\"diverging\">{}</span></td>", mark);
}

void add_heading(HtmlText& html, const HtmlColumn& column, HtmlOrder order) {
    const std::string text = xml_escaped(column.heading);
    if (column.kind == HtmlColumn::Kind::bar) {
        html.put("<td></td>");
    } else if (order == HtmlOrder::sortable) {
        html.add("<th scope=\"col\"{}><button type=\"button\">{}</button></th>", class_of(column), text);
    } else {
        html.add("<th scope=\"col\"{}>{}</th>", class_of(column), text);
    }
}

// Inside a script element "<" could end it ("</script>") or open a comment that does; in JSON it occurs in strings
// only.
std::string script_safe(std::string_view json) {
    std::string safe;
    safe.reserve(json.size());
    for (const char c : json) {
        if (c == '<') {
            safe += "\\u003c";
        } else {
            safe += c;
        }
    }
    return safe;
}

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

std::string html_table(std::string_view caption, const std::vector<HtmlColumn>& columns,
                       const std::vector<std::vector<HtmlCell>>& rows, HtmlOrder order) {
    HtmlText html;
    const bool tall = rows.size() > tallest;  // scrolls on its own, by keyboard as well
    html.add(
        "<div class=\"scroll{}><table{}>",
        tall ? fmt::format(" tall\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"", xml_escaped(caption)) : "\"",
        order == HtmlOrder::sortable ? " class=\"sortable\"" : "");
    if (!caption.empty()) html.add("<caption>{}</caption>", xml_escaped(caption));
    html.put("<thead><tr>");
    for (const HtmlColumn& column : columns) add_heading(html, column, order);
    html.put("</tr></thead><tbody>\n");
    for (const std::vector<HtmlCell>& row : rows) {
        WEFT_CHECK(row.size() == columns.size(), "a row has other cells than columns");
        html.put("<tr>");
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (columns[i].kind == HtmlColumn::Kind::bar) {
                html.put(diverging_bar(row[i].value));
                continue;
            }
            const std::string_view tag = i == 0 ? "th" : "td";
            const std::string value = row[i].value ? fmt::format(" data-value=\"{}\"", *row[i].value) : "";
            html.put(fmt::format("<{}{}{}{}>{}</{}>", tag, i == 0 ? " scope=\"row\"" : "", class_of(columns[i]), value,
                                 xml_escaped(row[i].text), tag));
        }
        html.put("</tr>\n");
    }
    html.put("</tbody></table></div>\n");
    return html.take();
}

std::string html_table(std::string_view caption, const TextTable& table, const std::vector<HtmlBars>& bars) {
    std::int64_t most = 1;
    for (const HtmlBars& each : bars) {
        for (const std::int64_t value : each.values) most = std::max(most, std::abs(value));
    }
    std::vector<HtmlColumn> columns;
    std::vector<std::vector<HtmlCell>> rows(table.rows().size());
    for (std::size_t i = 0; i < table.headings().size(); ++i) {
        columns.push_back({table.headings()[i], table.is_left(i) ? HtmlColumn::Kind::text : HtmlColumn::Kind::number});
        for (std::size_t r = 0; r < rows.size(); ++r) rows[r].push_back({table.rows()[r][i]});
        const auto own = std::ranges::find(bars, i, &HtmlBars::behind);
        if (own == bars.end()) continue;
        columns.push_back({"", HtmlColumn::Kind::bar});
        for (std::size_t r = 0; r < rows.size(); ++r) {
            rows[r].emplace_back();
            if (r < own->values.size()) {
                rows[r].back().value = static_cast<double>(own->values[r]) / static_cast<double>(most);
            }
        }
    }
    return html_table(caption, columns, rows);
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

std::string html_links(std::span<const HtmlSection> sections) {
    std::string links;
    for (const HtmlSection& each : sections) links += fmt::format("<a href=\"#{}\">{}</a>", each.id, each.link);
    return links;
}

std::string html_sections(std::span<const HtmlSection> sections) {
    HtmlText html;
    for (const HtmlSection& each : sections) {
        html.add("<section id=\"{}\"><h2>{}</h2>", each.id, each.title);
        html.put(each.html + "</section>\n");
    }
    return html.take();
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
