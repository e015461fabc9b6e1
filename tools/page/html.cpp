#include "tools/page/html.hpp"

#include "sim/base/check.hpp"
#include "tools/output/svg_text.hpp"

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

std::string html_details(std::string_view summary, std::string_view html) {
    return fmt::format("<details class=\"data\"><summary>{}</summary>{}</details>\n", xml_escaped(summary), html);
}

}  // namespace weft
