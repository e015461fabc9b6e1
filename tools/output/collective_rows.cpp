#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/output/collective_text.hpp"
#include "tools/output/columns.hpp"
#include "tools/output/fabric_text.hpp"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

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
        columns.push_back({"p50_s", {}, [](const Row& row) { return row.sampled->p50; }, Readers::of_csv});
        columns.push_back({"p95_s", {}, [](const Row& row) { return row.sampled->p95; }, Readers::of_csv});
        columns.push_back({"p99_s", {}, [](const Row& row) { return row.sampled->p99; }, Readers::of_csv});
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

Json links_json(std::span<const ClassUtilization> links) {
    return table_json(table_of<ClassUtilization>(
        links, {{"class", {}, &ClassUtilization::link_class}, {"utilization", {}, &ClassUtilization::utilization}}));
}

Json rows_json(const CollectiveRequest& request, std::span<const CollectiveRow> rows) {
    Json json = table_json(rows_table(rows));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const CollectiveRow& row = rows[i];
        json[i]["links"] = links_json(row.links);
        json[i]["hottest_links"] = hot_links_json(row.hottest);
        if (row.sampled) {
            json[i]["sampled"] = {{"p50_s", row.sampled->p50.value},
                                  {"p95_s", row.sampled->p95.value},
                                  {"p99_s", row.sampled->p99.value}};
        }
        if (request.detail != Detail::explained) continue;
        json[i]["phases"] = table_json(phases_table(row));
        json[i]["candidates"] = table_json(candidates_table(row));
    }
    return json;
}

Json comparison_json(const Comparison& comparison) {
    Json json = summary_json(comparison.summary);
    json["rows"] = table_json(compared_table(comparison));
    return json;
}

}  // namespace

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
    if (const JitterTerms& jitter = request.jitter; jitter.samples > 0) {
        json["jitter"] = {{"standard_deviation", jitter.deviation},
                          {"source", "assumed"},
                          {"samples", jitter.samples},
                          {"seed", jitter.seed}};
        if (request.draws_hashes()) json["jitter"]["hashes_from"] = to_text(request.routing());
    }
    json["rows"] = rows_json(request, rows);
    if (comparison) json["comparison"] = comparison_json(*comparison);
    return json_text(json);
}

std::string collective_csv(std::span<const CollectiveRow> rows) { return table_csv(rows_table(rows)); }

std::string collective_explanation(std::span<const CollectiveRow> rows) {
    std::string text;
    for (const CollectiveRow& row : rows) {
        text += fmt::format("\n{:.0f} B: {} {}, {} in {} channels\n", row.size.value, row.algorithm, row.protocol,
                            to_text(row.time), row.channels);
        text += table_text(phases_table(row), 2) + table_text(candidates_table(row), 2);
    }
    return text;
}

std::string comparison_text(const Comparison& comparison, const std::string& file) {
    return fmt::format("\nmeasured: {}\n{}{}\n", file, table_text(compared_table(comparison)),
                       summary_text(comparison.summary));
}

}  // namespace weft
