#include "tools/page/result_cards.hpp"

#include "sim/io/units.hpp"
#include "tools/output/figures.hpp"
#include "tools/output/svg_text.hpp"
#include "tools/page/html.hpp"
#include "tools/page/result_data.hpp"
#include "tools/page/telling_keys.hpp"

namespace weft {
namespace {

void card(HtmlText& html, std::string_view name, std::string_view figure, std::string_view note) {
    html.add("<div><dt>{}</dt><dd class=\"figure\">{}</dd><dd class=\"note\">{}</dd></div>", name, figure,
             xml_escaped(note));
}

// Of a column that not every table has.
struct Best {
    std::string_view column, name;
    Extreme extreme;
    std::string (*text)(double);
};

constexpr Best bests[] = {
    {"step_time_s", "shortest step", Extreme::least, [](double value) { return to_text(Seconds{value}); }},
    {"throughput_model_tflops_per_gpu", "most model TFLOP/s per GPU", Extreme::greatest,
     [](double value) { return fmt::format("{:.1f}", value); }},
    {"memory_peak_bytes", "least memory", Extreme::least, [](double value) { return to_text(Bytes{value}); }},
};

}  // namespace

std::string result_head(const ResultPageText& text, const ResultTable& table, const RowsCard& rows) {
    HtmlText html;
    if (!text.summary.empty()) html.add("<p class=\"lead\">{}</p>", xml_escaped(text.summary));
    html.put("<dl class=\"cards wide\">\n");
    card(html, rows.name, grouped(double(rows.rows)), rows.note);
    const std::vector<std::size_t> keys = telling_keys(table);
    for (const Best& best : bests) {
        const auto row = extreme_row(table, best.column, best.extreme);
        if (row) card(html, best.name, best.text(row->value), keys_text(table, keys, row->row));
    }
    html.add("</dl>\n<p class=\"quiet made\">Made by <code>{}</code></p>", xml_escaped(text.command));
    return html.take();
}

}  // namespace weft
