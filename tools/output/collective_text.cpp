#include "tools/output/collective_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string_view>

#include "sim/io/units.hpp"
#include "tools/output/fabric_text.hpp"
#include "tools/output/json_text.hpp"
#include "tools/output/result_table.hpp"
#include "tools/output/text_table.hpp"

namespace weft {

namespace {

constexpr double element = 4.0;  // bytes of a float, the type of nccl-tests unless told otherwise

bool reduces(Collective op) {
    return op == Collective::all_reduce || op == Collective::reduce_scatter || op == Collective::reduce;
}

bool has_root(Collective op) { return op == Collective::broadcast || op == Collective::reduce; }

// nccl-tests counts the elements of one rank's part where the full buffer is made of parts (its src/*.cu).
double elements(Collective op, Bytes message, std::uint32_t members) {
    const bool in_parts =
        op == Collective::all_gather || op == Collective::reduce_scatter || op == Collective::all_to_all;
    return std::floor(message.value / (in_parts ? element * members : element));
}

// As many digits as nccl-tests shows.
std::string microseconds(Seconds time) {
    const double us = time.value * 1e6;
    return us < 100.0     ? fmt::format("{:.2f}", us)
           : us < 10000.0 ? fmt::format("{:.1f}", us)
                          : fmt::format("{:.0f}", us);
}

std::string osu_name(Collective op) {
    switch (op) {
        case Collective::all_reduce:
            return "Allreduce";
        case Collective::all_gather:
            return "Allgather";
        case Collective::reduce_scatter:
            return "Reduce_scatter";
        case Collective::broadcast:
            return "Broadcast";
        case Collective::reduce:
            return "Reduce";
        case Collective::all_to_all:
            return "All-to-All";
        case Collective::send_receive:
            return "Send-Receive";
        case Collective::point_to_point:
            return "Point-to-Point";
    }
    throw LogicError("a Collective outside its enumerators");
}

std::string heading(const CollectiveRequest& request, std::span<const CollectiveRow> rows) {
    const std::string others = background_text(request.fabric);
    return fmt::format("# weft collective {}: {}, {}, {}, {} calls\n# algorithm and protocol: {}\n", name(request.op),
                       request.machine.info().name, request.library->name, layout_text(request.layout),
                       request.calls == Calls::blocking ? "blocking" : "queued", chosen_by(request, rows)) +
           (others.empty() ? "" : "# other traffic: " + others + "\n");
}

// One of each class.
std::string hottest_text(const CollectiveRow& row) {
    std::string text;
    std::set<std::string_view> named;
    for (const HotLink& link : row.hottest) {
        if (!named.insert(link.link_class).second) continue;
        text += fmt::format("#{:>7.1f} %  {:<20} {}\n", 100.0 * link.busy, link.link_class, hot_link_text(link));
    }
    return text.empty() ? text : fmt::format("# hottest links at {:.0f} B:\n", row.size.value) + text;
}

// Whether a row has a link that other traffic uses.
bool meets_others(const CollectiveRequest& request, std::span<const CollectiveRow> rows) {
    return std::ranges::any_of(
        busiest(rows), [&](const ClassUtilization& use) { return has_background(request.fabric, use.link_class); });
}

std::string links_text(const CollectiveRequest& request, std::span<const CollectiveRow> rows) {
    std::string text;
    if (!request.fabric.background.empty() && request.pace == Pace::lock_step && !meets_others(request, rows)) {
        text = "# no message meets other traffic\n";
    }
    std::string links;
    for (const ClassUtilization& use : busiest(rows)) {
        links += fmt::format("{}{} {:.0f} %", links.empty() ? "" : ", ", use.link_class, 100.0 * use.utilization);
    }
    if (links.empty()) return text;
    return text + "# busiest links of each class, at most: " + links + "\n" + hottest_text(rows.back());
}

}  // namespace

std::string layout_text(const SetLayout& layout) {
    std::string text = fmt::format("{} rank{} on {} node{}", layout.ranks, layout.ranks == 1 ? "" : "s", layout.nodes(),
                                   layout.nodes() == 1 ? "" : "s");
    if (layout.groups > 1) text += fmt::format(" in {} groups of {}", layout.groups, layout.members());
    return text;
}

std::string_view chosen_by(const CollectiveRequest& request, std::span<const CollectiveRow> rows) {
    if (!request.preference.algorithm.empty() && !request.preference.protocol.empty()) return "as asked";
    if (std::ranges::none_of(rows, &CollectiveRow::is_tuned)) return "cheapest by cost";
    return std::ranges::all_of(rows, &CollectiveRow::is_tuned)
               ? "by the library's tuner"
               : "by the library's tuner, where it says nothing cheapest by cost";
}

std::vector<ClassUtilization> busiest(std::span<const CollectiveRow> rows) {
    std::vector<ClassUtilization> most;
    for (const CollectiveRow& row : rows) {
        for (const ClassUtilization& use : row.links) {
            const auto same = [&](const ClassUtilization& known) { return known.link_class == use.link_class; };
            const auto known = std::find_if(most.begin(), most.end(), same);
            if (known == most.end()) {
                most.push_back(use);
            } else {
                known->utilization = std::max(known->utilization, use.utilization);
            }
        }
    }
    return most;
}

std::string collective_nccl(const CollectiveRequest& request, std::span<const CollectiveRow> rows) {
    std::string text = heading(request, rows);
    text += fmt::format("#{:>12}{:>14}{:>9}{:>8}{:>8}{:>11}{:>9}{:>9}  {:<18} {}\n", "size", "count", "type", "redop",
                        "root", "time", "algbw", "busbw", "algorithm", "protocol");
    text += fmt::format("#{:>12}{:>14}{:>9}{:>8}{:>8}{:>11}{:>9}{:>9}\n", "(B)", "(elements)", "", "", "", "(us)",
                        "(GB/s)", "(GB/s)");
    double sum = 0.0;
    for (const CollectiveRow& row : rows) {
        text += fmt::format(" {:>12.0f}{:>14.0f}{:>9}{:>8}{:>8}{:>11}{:>9.2f}{:>9.2f}  {:<18} {}\n", row.message.value,
                            elements(request.op, row.message, request.layout.members()), "float",
                            reduces(request.op) ? "sum" : "none", has_root(request.op) ? 0 : -1, microseconds(row.time),
                            row.algorithm_bandwidth.value / 1e9, row.bus_bandwidth.value / 1e9, row.algorithm,
                            row.protocol);
        sum += row.bus_bandwidth.value / 1e9;
    }
    if (!rows.empty()) text += fmt::format("# Avg bus bandwidth    : {:g}\n", sum / static_cast<double>(rows.size()));
    return text + links_text(request, rows);
}

std::string collective_osu(const CollectiveRequest& request, std::span<const CollectiveRow> rows) {
    std::string text = fmt::format("# OSU MPI {} Latency Test, as predicted\n", osu_name(request.op));
    text += heading(request, rows);
    text += fmt::format("{:<12}{:>16}  {:<18} {}\n", "# Size", "Avg Latency(us)", "Algorithm", "Protocol");
    for (const CollectiveRow& row : rows) {
        text += fmt::format("{:<12.0f}{:>16.2f}  {:<18} {}\n", row.size.value, row.time.value * 1e6, row.algorithm,
                            row.protocol);
    }
    return text + links_text(request, rows);
}

std::string collective_samples(const CollectiveRequest& request, std::span<const CollectiveRow> rows) {
    const JitterTerms& jitter = request.jitter;
    if (jitter.samples == 0) return {};
    std::string text = fmt::format("# {} calls", jitter.samples);
    if (request.draws_hashes()) {
        const std::uint64_t first = request.routing().seed;
        text += fmt::format(", each with other hashes (ecmp:{} to ecmp:{})", first, first + jitter.samples - 1);
    }
    if (jitter.deviation > 0 || !request.draws_hashes()) {
        text += fmt::format(", jitter of messages {:g} % (assumed: no machine file has one that was measured), seed {}",
                            100.0 * jitter.deviation, jitter.seed);
    }
    text += fmt::format("\n#{:>12}{:>11}{:>11}{:>11}\n#{:>12}{:>11}{:>11}{:>11}\n", "size", "p50", "p95", "p99", "(B)",
                        "(us)", "(us)", "(us)");
    for (const CollectiveRow& row : rows) {
        text += fmt::format("#{:>12.0f}{:>11}{:>11}{:>11}\n", row.size.value, microseconds(row.sampled->p50),
                            microseconds(row.sampled->p95), microseconds(row.sampled->p99));
    }
    return text;
}

std::string summary_text(const ErrorSummary& summary) {
    return fmt::format("error of {} row{}: median {:.1f} %, 90th percentile {:.1f} %, at most {:.1f} %; bias {:+.1f} %",
                       summary.rows, summary.rows == 1 ? "" : "s", 100.0 * summary.median,
                       100.0 * summary.percentile_90, 100.0 * summary.largest, 100.0 * summary.bias);
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
