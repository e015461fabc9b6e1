#include "tools/output/comparison_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sim/io/units.hpp"
#include "tools/output/collective_text.hpp"
#include "tools/output/text_table.hpp"

namespace weft {

std::string summary_text(const ErrorSummary& summary) {
    return fmt::format("error of {} row{}: median {:.1f} %, 90th percentile {:.1f} %, at most {:.1f} %; bias {:+.1f} %",
                       summary.rows, summary.rows == 1 ? "" : "s", 100.0 * summary.median,
                       100.0 * summary.percentile_90, 100.0 * summary.largest, 100.0 * summary.bias);
}

std::string comparison_text(const Comparison& comparison, const std::string& file) {
    TextTable table({"size (B)", "measured", "predicted", "error", "<algorithm", "<protocol", "line"});
    for (const ComparedRow& row : comparison.rows) {
        table.add({fmt::format("{:.0f}", row.message.value), to_text(row.measured), to_text(row.predicted),
                   fmt::format("{:+.1f} %", 100.0 * row.error()), std::string(row.algorithm), std::string(row.protocol),
                   fmt::to_string(row.line)});
    }
    return fmt::format("\nmeasured: {}\n{}{}\n", file, table.text(), summary_text(comparison.summary));
}

Chart collective_chart(const CollectiveRequest& request, std::span<const CollectiveRow> rows,
                       const std::optional<Comparison>& comparison) {
    Chart chart{.title = fmt::format("{} on {}", name(request.op), request.machine.info().name),
                .subtitle = fmt::format("{}, {}", request.library->name, layout_text(request.layout)),
                .kind = ChartKind::lines,
                .x = {.title = "Full buffer", .unit = "B", .scale = AxisScale::log2},
                .y = {.title = "Time of a call", .unit = "s", .scale = AxisScale::log10},
                .categories = {},
                .positions = {},
                .series = {{.name = "predicted", .values = {}}}};
    for (const CollectiveRow& row : rows) {
        chart.positions.push_back(row.message.value);
        chart.series.front().values.push_back(row.time.value);
    }
    if (!comparison) return chart;
    ChartSeries measured{.name = "measured", .values = {}, .look = ChartSeries::Look::reference};
    for (const CollectiveRow& row : rows) {
        const auto same = [&](const ComparedRow& other) { return other.message == row.message; };
        const auto found = std::find_if(comparison->rows.begin(), comparison->rows.end(), same);
        measured.values.push_back(found == comparison->rows.end() ? std::numeric_limits<double>::quiet_NaN()
                                                                  : found->measured.value);
    }
    chart.series.push_back(std::move(measured));
    return chart;
}

}  // namespace weft
