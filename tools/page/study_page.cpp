#include "tools/page/pages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>

#include "tools/output/chart.hpp"
#include "tools/output/json_text.hpp"
#include "tools/output/svg_text.hpp"
#include "tools/page/html.hpp"

namespace weft {
namespace {

// A picture's own styles stay its own where it is an image.
std::string data_address(std::string_view svg) {
    constexpr std::string_view plain = " =:/.,;-_()'!*@$+";
    std::string out = "data:image/svg+xml,";
    for (const char c : svg) {
        const auto byte = static_cast<unsigned char>(c);
        if (std::isalnum(byte) != 0 || plain.find(c) != std::string_view::npos) {
            out += c;
        } else {
            out += fmt::format("%{:02X}", byte);
        }
    }
    return out;
}

// `code` of Markdown.
std::string inline_html(std::string_view markdown) {
    std::string html;
    bool in_code = false;
    for (const char c : xml_escaped(markdown)) {
        if (c == '`') {
            html += in_code ? "</code>" : "<code>";
            in_code = !in_code;
        } else {
            html += c;
        }
    }
    return html;
}

// With a link from each "(b)" to its note.
std::string verdict_html(const StudyStatement& statement, const StudyText& text) {
    std::string html = inline_html(statement.verdict);
    for (const StudyNote& note : text.notes) {
        const std::size_t open = html.rfind('(');
        if (open == std::string::npos) break;
        for (const std::string_view before : {"(", ", "}) {
            const std::string mark = fmt::format("{}{}", before, note.letter);
            const std::size_t at = html.find(mark, before == "(" ? open : 0);
            const std::size_t end = at + mark.size();
            if (at == std::string::npos || end >= html.size() || (html[end] != ')' && html[end] != ',')) continue;
            html.replace(at, mark.size(), fmt::format("{0}<a href=\"#note-{1}\">{1}</a>", before, note.letter));
        }
    }
    return html;
}

bool is_shown(const StudyStatement& statement, std::span<const EvaluatedFigure> figures) {
    return std::ranges::any_of(figures, [&](const EvaluatedFigure& each) { return statement.is_about(each.figure); });
}

std::string statement_table(std::span<const EvaluatedFigure> figures, const StudyText& text) {
    HtmlText html;
    html.put(
        "<div class=\"scroll\"><table class=\"statements\"><thead><tr><th scope=\"col\">figure</th><th scope=\"col\">"
        "the study states</th><th scope=\"col\">weft says</th><th scope=\"col\">in short</th></tr></thead><tbody>\n");
    for (std::size_t i = 0; i < text.statements.size(); ++i) {
        const StudyStatement& each = text.statements[i];
        if (!is_shown(each, figures)) continue;
        html.add("<tr id=\"statement-{}\"><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td></tr>", i,
                 inline_html(each.topic), inline_html(each.stated), inline_html(each.found), verdict_html(each, text));
    }
    html.put("</tbody></table></div>\n");
    for (const StudyNote& note : text.notes) {
        const std::string link = fmt::format("\"#note-{}\"", note.letter);
        const bool is_asked_for = std::ranges::any_of(text.statements, [&](const StudyStatement& each) {
            return is_shown(each, figures) && verdict_html(each, text).find(link) != std::string::npos;
        });
        if (!is_asked_for) continue;
        html.add("<p id=\"note-{0}\">({0}) {1}</p>", note.letter, inline_html(note.text));
    }
    return html.take();
}

std::string value_table(const EvaluatedFigure& each) {
    using Kind = HtmlColumn::Kind;
    std::vector<std::vector<HtmlCell>> rows;
    for (const StudyRow& row : each.rows) {
        const StudyCase& subject = each.figure.cases[row.subject];
        const double value = row.measured.value;
        rows.push_back({{subject.model},
                        {subject.scheme},
                        {subject.position > 0 ? number_text(subject.position) : "", subject.position},
                        {row.measured.series},
                        {std::isnan(value) ? "" : fmt::format("{:.6g}", value), std::isnan(value) ? 0 : value},
                        {row.measured.note}});
    }
    const std::string unit = each.figure.y.unit.empty() ? "value" : "value, " + each.figure.y.unit;
    return html_details("Values", html_table(each.figure.title,
                                             {{"model", Kind::text},
                                              {"scheme", Kind::text},
                                              {each.figure.x.title.empty() ? "position" : each.figure.x.title},
                                              {"series", Kind::text},
                                              {unit},
                                              {"note", Kind::text}},
                                             rows, HtmlOrder::sortable));
}

std::string figure_section(const EvaluatedFigure& each, const StudyText& text) {
    const StudyFigure& figure = each.figure;
    HtmlText html;
    html.add("<section id=\"{}\"><h2>{}: {}</h2><p class=\"quiet\">{}</p>", figure.name,
             figure.number == 0 ? "Text" : figure.name.substr(figure.name.find('-') + 1), xml_escaped(figure.title),
             xml_escaped(figure.note));
    std::string about;
    for (std::size_t i = 0; i < text.statements.size(); ++i) {
        if (!text.statements[i].is_about(figure)) continue;
        about += fmt::format("<li><a href=\"#statement-{}\">{}</a>: {}</li>", i, inline_html(text.statements[i].topic),
                             verdict_html(text.statements[i], text));
    }
    if (!about.empty()) html.add("<ul>{}</ul>", about);
    if (has_values(each.rows)) {
        html.add(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Figure {0}\"><img class=\"picture\" "
            "alt=\"{1}\" src=\"{2}\"></div>",
            figure.name, xml_escaped(figure.title + "; the values are in the table below"),
            data_address(chart_svg(study_chart(figure, each.rows))));
    } else {
        html.add("<p>Nothing to draw: {}</p>",
                 xml_escaped(each.rows.empty() ? "no case" : each.rows.front().measured.note));
    }
    html.put(value_table(each) + "</section>\n");
    return html.take();
}

}  // namespace

std::string study_page(std::span<const EvaluatedFigure> figures, const StudyText& text, const std::string& command) {
    HtmlText html;
    html.put(
        "<p class=\"lead\">What arXiv 2408.10197 states of a framework's communication, beside what its equations, the "
        "framework's sources and the simulation come to.</p>\n<nav aria-label=\"Figures\"><a href=\"#statements\">"
        "Statements</a>");
    for (const EvaluatedFigure& each : figures) {
        html.put(fmt::format(
            "<a href=\"#{0}\">{1}</a>", each.figure.name,
            each.figure.number == 0 ? each.figure.name : each.figure.name.substr(each.figure.name.find('-') + 1)));
    }
    html.put("</nav>\n<section id=\"statements\"><h2>Statements</h2>\n" + statement_table(figures, text) +
             "</section>\n");
    for (const EvaluatedFigure& each : figures) html.put(figure_section(each, text));
    html.add("<p class=\"quiet made\">Made by <code>{}</code></p>", xml_escaped(command));
    return html_page({.title = "The communication study, statement by statement", .body = html.take()});
}

}  // namespace weft
