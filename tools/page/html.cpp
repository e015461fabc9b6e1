#include "tools/page/html.hpp"

#include "sim/base/check.hpp"
#include "sim/io/embedded.hpp"
#include "tools/version.hpp"

namespace weft {
namespace {

constexpr std::size_t tallest = 24;  // rows

std::string_view class_of(const HtmlColumn& column) {
    return column.kind == HtmlColumn::Kind::number ? " class=\"number\"" : "";
}

void add_heading(HtmlText& html, const HtmlColumn& column, HtmlOrder order) {
    const std::string text = xml_escaped(column.heading);
    if (order == HtmlOrder::sortable) {
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
