#include "tools/page/message_table.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "sim/io/units.hpp"
#include "tools/output/svg_text.hpp"
#include "tools/page/html.hpp"
#include "workloads/step/lanes.hpp"

namespace weft {
namespace {

constexpr double highest_bar = 34;  // pixels

// A power of two is a whole number in its unit.
std::string edge_text(Bytes from) {
    if (from == Bytes{}) return "empty";
    const std::string text = to_text(from);
    const std::size_t point = text.find('.'), unit = text.find(' ');
    return point < unit ? text.substr(0, point) + text.substr(unit) : text;
}

}  // namespace

std::vector<MessageCount> message_counts(const Simulation& run) {
    const Program& program = run.step.program;
    std::map<std::pair<LaneId, CommunicationId>, double> calls;
    double ranks = 0;
    for (const RankClass& rank_class : program.classes) ranks += rank_class.weight;
    for (const RankClass& rank_class : program.classes) {
        for (std::uint32_t i = rank_class.first_op; i < rank_class.first_op + rank_class.ops; ++i) {
            const Op& op = program.ops[OpId{i}];
            if (op.kind != OpKind::exchange) continue;
            calls[{op.lane, program.communication_of(op)}] += rank_class.weight / ranks;
        }
    }
    std::vector<MessageCount> counts;
    for (const auto& [what, count] : calls) {
        const Communication& call = program.communications[what.second];
        counts.push_back({.op = lanes::dimension_name(what.first) + ' ' + lanes::operation_name(call.op, what.first),
                          .message = call.message,
                          .calls = count});
    }
    return counts;
}

std::string message_table(const std::vector<HistogramBin>& bins) {
    std::set<Bytes> edges;
    std::map<std::string, double> most, all;
    std::vector<std::string> ops;
    std::map<std::pair<std::string, Bytes>, const HistogramBin*> cells;
    for (const HistogramBin& bin : bins) {
        edges.insert(bin.from);
        if (!all.contains(bin.op)) ops.push_back(bin.op);
        most[bin.op] = std::max(most[bin.op], bin.calls);
        all[bin.op] += bin.calls;
        cells[{bin.op, bin.from}] = &bin;
    }
    HtmlText html;
    html.put(
        "<div class=\"scroll\"><table class=\"messages snug\"><caption>Calls per rank and step by size of the message, "
        "from the size in the heading up to twice as much.</caption><thead><tr><th scope=\"col\"></th>");
    for (const Bytes from : edges) html.put(fmt::format("<th scope=\"col\">{}</th>", edge_text(from)));
    html.put("</tr></thead><tbody>\n");
    for (const std::string& op : ops) {
        html.put(fmt::format("<tr><th scope=\"row\">{}</th>", xml_escaped(op)));
        for (const Bytes from : edges) {
            const auto cell = cells.find({op, from});
            if (cell == cells.end()) {
                html.put("<td></td>");
                continue;
            }
            const HistogramBin& bin = *cell->second;
            html.put(fmt::format(
                "<td title=\"{0:.4g} calls ({1:.1f} %), {2}\">{0:.4g}<span class=\"bar\" style=\"height:{3:.0f}px\">"
                "</span></td>",
                bin.calls, 100 * bin.calls / all[op], to_text(bin.bytes),
                std::max(1.0, highest_bar * bin.calls / most[op])));
        }
        html.put("</tr>\n");
    }
    html.put("</tbody></table></div>\n");
    return html.take();
}

}  // namespace weft
