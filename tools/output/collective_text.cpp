#include "tools/output/result_texts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "sim/io/units.hpp"
#include "tools/output/columns.hpp"
#include "tools/output/report_text.hpp"
#include "tools/output/result_table.hpp"

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

// In the order of the enumerators.
std::string_view osu_name(Collective op) {
    constexpr std::array<std::string_view, 8> names{"Allreduce", "Allgather",  "Reduce_scatter", "Broadcast",
                                                    "Reduce",    "All-to-All", "Send-Receive",   "Point-to-Point"};
    return names.at(static_cast<std::size_t>(op));
}

// How the algorithms and protocols of the rows were chosen.
std::string_view chosen_by(const CollectiveRequest& request, std::span<const CollectiveRow> rows) {
    if (!request.preference.algorithm.empty() && !request.preference.protocol.empty()) return "as asked";
    if (std::ranges::none_of(rows, &CollectiveRow::is_tuned)) return "cheapest by cost";
    return std::ranges::all_of(rows, &CollectiveRow::is_tuned)
               ? "by the library's tuner"
               : "by the library's tuner, where it says nothing cheapest by cost";
}

std::string heading(const CollectiveRequest& request, std::span<const CollectiveRow> rows) {
    const std::string others = background_text(request.fabric);
    return fmt::format("# weft collective {}: {}, {}, {}, {} calls\n# algorithm and protocol: {}\n", name(request.op),
                       request.machine.info().name, request.library->name, layout_text(request.layout),
                       request.calls == Calls::blocking ? "blocking" : "queued", chosen_by(request, rows)) +
           (others.empty() ? "" : "# other traffic: " + others + "\n");
}

// Of each class the highest utilization in any row.
std::vector<ClassUtilization> busiest(std::span<const CollectiveRow> rows) {
    std::vector<ClassUtilization> most;
    for (const CollectiveRow& row : rows) {
        for (const ClassUtilization& use : row.links) {
            auto known = std::ranges::find(most, use.link_class, &ClassUtilization::link_class);
            if (known == most.end()) known = most.insert(known, use);
            known->utilization = std::max(known->utilization, use.utilization);
        }
    }
    return most;
}

// One of each class.
std::string hottest_text(const CollectiveRow& row) {
    std::string text;
    std::set<std::string_view> named;
    for (const HotLink& link : row.hottest) {
        if (!named.insert(link.link_class).second) continue;
        text += fmt::format("#{:>7.1f} %  {:<20} {} -> {}{}\n", 100.0 * link.busy, link.link_class, link.from, link.to,
                            link.links == 1 ? "" : fmt::format(" and {} more alike", link.links - 1));
    }
    return text.empty() ? text : fmt::format("# hottest links at {:.0f} B:\n", row.size.value) + text;
}

std::string links_text(const CollectiveRequest& request, std::span<const CollectiveRow> rows) {
    const std::vector<ClassUtilization> used = busiest(rows);
    const auto has_others = [&](const ClassUtilization& use) { return has_background(request.fabric, use.link_class); };
    std::string text;
    if (!request.fabric.background.empty() && std::ranges::none_of(used, has_others)) {
        text = "# no message meets other traffic\n";
    }
    const std::string links = comma_list(used, [](const ClassUtilization& use) {
        return fmt::format("{} {:.0f} %", use.link_class, 100.0 * use.utilization);
    });
    if (links.empty()) return text;
    return text + "# busiest links of each class, at most: " + links + "\n" + hottest_text(rows.back());
}

constexpr std::pair<const char*, Seconds TimeQuantiles::*> quantile_columns[]{
    {"p50_s", &TimeQuantiles::p50}, {"p95_s", &TimeQuantiles::p95}, {"p99_s", &TimeQuantiles::p99}};

ResultTable rows_table(std::span<const CollectiveRow> rows) {
    using Row = CollectiveRow;
    Columns<Row> columns{{"size_bytes", {}, whole(&Row::size)},
                         {"message_bytes", {}, whole(&Row::message), Readers::of_json},
                         {"time_s", {}, &Row::time},
                         {"algbw", {}, &Row::algorithm_bandwidth},
                         {"busbw", {}, &Row::bus_bandwidth},
                         {"algorithm", {}, &Row::algorithm},
                         {"protocol", {}, &Row::protocol},
                         {"channels", {}, &Row::channels}};
    if (!rows.empty() && rows.front().sampled) {
        for (const auto& [key, part] : quantile_columns) {
            columns.push_back({key, {}, [part = part](const Row& row) { return *row.sampled.*part; }, Readers::of_csv});
        }
    }
    return table_of(rows, columns);
}

ResultTable phases_table(const CollectiveRow& row) {
    return table_of<PhaseFacts>(row.phases, {{"pattern", "<phase", &PhaseFacts::pattern},
                                             {"launch_s", "launch", &PhaseFacts::launch},
                                             {"path_s", "path", &PhaseFacts::path},
                                             {"latency_s", "not hidden", &PhaseFacts::latency},
                                             {"bytes", "bytes", &PhaseFacts::bytes},
                                             {"bytes_time_s", "bytes' time", &PhaseFacts::bytes_time},
                                             {"bottleneck", "<bottleneck", &PhaseFacts::bottleneck}});
}

ResultTable candidates_table(const CollectiveRow& row) {
    using Candidate = CandidateFacts;
    return table_of<Candidate>(
        row.candidates,
        {{"algorithm", "<candidate", &Candidate::algorithm},
         {"protocol", "<protocol", &Candidate::protocol},
         {"time_s", "time", &Candidate::time},
         {"chosen", {}, [](const Candidate& one) { return one.standing == Standing::chosen; }},
         {"within_bounds", {}, [](const Candidate& one) { return one.standing != Standing::out_of_bounds; }},
         {"", "<", [](const Candidate& one) {
              return one.standing == Standing::chosen     ? "chosen"
                     : one.standing == Standing::possible ? ""
                                                          : "not for messages of this size";
          }}});
}

ResultTable compared_table(const Comparison& comparison) {
    using Row = ComparedRow;
    return table_of<Row>(comparison.rows, {{"message_bytes", "size (B)", whole(as<Figure<rounded>>(&Row::message))},
                                           {"measured_s", "measured", &Row::measured},
                                           {"predicted_s", "predicted", &Row::predicted},
                                           {"error", "error", as<Change>(&Row::error)},
                                           {"algorithm", "<algorithm", &Row::algorithm},
                                           {"protocol", "<protocol", &Row::protocol},
                                           {"line", "line", &Row::line}});
}

std::string quantiles_text(std::span<const CollectiveRow> rows, std::optional<TimeQuantiles> CollectiveRow::*times) {
    std::string text = fmt::format("#{:>12}{:>11}{:>11}{:>11}\n#{:>12}{:>11}{:>11}{:>11}\n", "size", "p50", "p95",
                                   "p99", "(B)", "(us)", "(us)", "(us)");
    for (const CollectiveRow& row : rows) {
        const TimeQuantiles& of = *(row.*times);
        text += fmt::format("#{:>12.0f}{:>11}{:>11}{:>11}\n", row.size.value, microseconds(of.p50),
                            microseconds(of.p95), microseconds(of.p99));
    }
    return text;
}

Json links_json(std::span<const ClassUtilization> links) {
    return table_json(table_of<ClassUtilization>(
        links, {{"class", {}, &ClassUtilization::link_class}, {"utilization", {}, &ClassUtilization::utilization}}));
}

Json rows_json(const CollectiveRequest& request, std::span<const CollectiveRow> rows) {
    Json json = table_json(rows_table(rows));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const CollectiveRow& row = rows[i];
        json[i]["links"] = links_json(row.links);
        json[i]["hottest_links"] = table_json(hot_links_table(row.hottest));
        json[i]["validation"] = evidence_json(evidence_of(call_traits(request, row.message)));
        for (const auto& [key, part] : quantile_columns) {
            if (row.sampled) json[i]["sampled"][key] = (*row.sampled.*part).value;
            if (row.congested) json[i]["congested"][key] = (*row.congested.*part).value;
        }
        if (request.detail != Detail::explained) continue;
        json[i]["phases"] = table_json(phases_table(row));
        json[i]["candidates"] = table_json(candidates_table(row));
    }
    return json;
}

}  // namespace

std::string layout_text(const SetLayout& layout) {
    std::string text = fmt::format("{} rank{} on {} node{}", layout.ranks, layout.ranks == 1 ? "" : "s", layout.nodes(),
                                   layout.nodes() == 1 ? "" : "s");
    if (layout.groups > 1) text += fmt::format(" in {} groups of {}", layout.groups, layout.members());
    return text;
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
    return text + links_text(request, rows) + call_notes(request, rows);
}

std::string collective_osu(const CollectiveRequest& request, std::span<const CollectiveRow> rows) {
    std::string text = fmt::format("# OSU MPI {} Latency Test, as predicted\n", osu_name(request.op));
    text += heading(request, rows);
    text += fmt::format("{:<12}{:>16}  {:<18} {}\n", "# Size", "Avg Latency(us)", "Algorithm", "Protocol");
    for (const CollectiveRow& row : rows) {
        text += fmt::format("{:<12.0f}{:>16.2f}  {:<18} {}\n", row.size.value, row.time.value * 1e6, row.algorithm,
                            row.protocol);
    }
    return text + links_text(request, rows) + call_notes(request, rows);
}

std::string collective_samples(const CollectiveRequest& request, std::span<const CollectiveRow> rows) {
    std::string text;
    if (!rows.empty() && rows.front().congested) {
        text += "# other traffic as flows of a NIC's rate that come at random between switches (assumed), all calls\n" +
                quantiles_text(rows, &CollectiveRow::congested);
    }
    if (request.samples == 0) return text;
    const std::uint64_t first = request.routing().seed;
    return text +
           fmt::format("# {} calls, each with other hashes (ecmp:{} to ecmp:{})\n", request.samples, first,
                       first + request.samples - 1) +
           quantiles_text(rows, &CollectiveRow::sampled);
}

std::string summary_text(const ErrorSummary& summary) {
    return fmt::format("error of {} row{}: median {:.1f} %, 90th percentile {:.1f} %, at most {:.1f} %; bias {:+.1f} %",
                       summary.rows, summary.rows == 1 ? "" : "s", 100.0 * summary.median,
                       100.0 * summary.percentile_90, 100.0 * summary.largest, 100.0 * summary.bias);
}

Json summary_json(const ErrorSummary& summary) {
    return {{"median_absolute_error", summary.median},
            {"percentile_90_absolute_error", summary.percentile_90},
            {"largest_absolute_error", summary.largest},
            {"median_error", summary.bias}};
}

std::string collective_json(const CollectiveRequest& request, std::span<const CollectiveRow> rows,
                            const std::optional<Comparison>& comparison) {
    const SetLayout& layout = request.layout;
    Json json{{"op", name(request.op)},
              {"machine", request.machine.info().name},
              {"library", request.library->name},
              {"ranks", layout.ranks},
              {"nodes", layout.nodes()},
              {"ranks_per_node", layout.ranks_per_node},
              {"groups", layout.groups},
              {"calls", request.calls == Calls::blocking ? "blocking" : "queued"},
              {"chosen", chosen_by(request, rows)},
              {"background", background_json(request.fabric)},
              {"size_convention", request.convention == SizeConvention::nccl ? "nccl" : "osu"},
              {"channels", rows.empty() ? 0 : rows.back().channels},
              {"links", links_json(busiest(rows))}};
    if (request.samples > 0)
        json["samples"] = {{"calls", request.samples}, {"hashes_from", to_text(request.routing())}};
    json["rows"] = rows_json(request, rows);
    if (comparison) {
        json["comparison"] = summary_json(comparison->summary);
        json["comparison"]["rows"] = table_json(compared_table(*comparison));
    }
    return json_text(json);
}

std::string collective_csv(std::span<const CollectiveRow> rows) { return table_csv(rows_table(rows)); }

std::string collective_explanation(std::span<const CollectiveRow> rows) {
    return sum_of<std::string>(rows, [](const CollectiveRow& row) {
        return fmt::format("\n{:.0f} B: {} {}, {} in {} channels\n{}{}", row.size.value, row.algorithm, row.protocol,
                           to_text(row.time), row.channels, table_text(phases_table(row), 2),
                           table_text(candidates_table(row), 2));
    });
}

std::string comparison_text(const Comparison& comparison, const std::string& file) {
    return fmt::format("\nmeasured: {}\n{}{}\n", file, table_text(compared_table(comparison)),
                       summary_text(comparison.summary));
}

}  // namespace weft
