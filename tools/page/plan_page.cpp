#include "tools/page/plan_page.hpp"

#include "tools/page/page.hpp"
#include "tools/page/result_cards.hpp"
#include "tools/page/result_data.hpp"

namespace weft {

std::string plan_page(const ResultPageText& text, const ResultTable& table) {
    std::string body = result_head(text, table, "candidates");
    body +=
        "<section><h2>Step time and memory</h2><p>A candidate on the front is not beaten by another in both. "
        "Down and to the left is better.</p><div id=\"front\"></div></section>\n"
        "<noscript><p>Chart and table need JavaScript.</p></noscript>\n"
        "<section><h2>Candidates</h2><div id=\"rows\"></div></section>\n";
    if (rows_with_result(table) < table.rows.size()) {
        body += "<section><h2>Refused</h2><div id=\"reasons\"></div></section>\n";
    }
    return html_page({.title = text.title,
                      .body = std::move(body),
                      .data = result_data(table),
                      .scripts = {"format", "theme", "chart", "result_table", "plan"},
                      .charts = ChartLibrary::embedded});
}

}  // namespace weft
