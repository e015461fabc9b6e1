#include "tools/page/sweep_page.hpp"

#include <algorithm>

#include "tools/output/figures.hpp"
#include "tools/page/page.hpp"
#include "tools/page/result_cards.hpp"
#include "tools/page/result_data.hpp"

namespace weft {

std::string sweep_page(const ResultPageText& text, const ResultTable& table) {
    const std::size_t rows = table.rows.size(), failed = rows - rows_with_result(table);
    std::string body =
        result_head(text, table,
                    {.name = "points",
                     .rows = rows,
                     .note = failed == 0 ? "all with a result" : grouped(double(failed)) + " without a result"});
    body +=
        "<section><h2>Over one key</h2><div id=\"metric\"></div><div id=\"lines\"></div></section>\n"
        "<noscript><p>Charts and table need JavaScript.</p></noscript>\n";
    if (std::ranges::count(table.columns, ColumnKind::key, &Column::kind) > 1) {
        body += "<section><h2>Over two keys</h2><div id=\"map\"></div></section>\n";
    }
    body += "<section><h2>Every point</h2><div id=\"rows\"></div></section>\n";
    if (failed > 0) {
        body += "<section><h2>Points without a result</h2><div id=\"reasons\"></div></section>\n";
    }
    return html_page({.title = text.title,
                      .body = std::move(body),
                      .data = result_data(table),
                      .scripts = {"format", "theme", "chart", "heat_map", "result_table", "sweep"},
                      .charts = ChartLibrary::embedded});
}

}  // namespace weft
