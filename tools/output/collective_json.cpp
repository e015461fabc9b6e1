#include <nlohmann/json.hpp>

#include "tools/output/collective_text.hpp"
#include "tools/output/fabric_text.hpp"
#include "tools/output/json_text.hpp"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

Json links_json(std::span<const ClassUtilization> links) {
    Json json = Json::array();
    for (const ClassUtilization& use : links) {
        json.push_back({{"class", use.link_class}, {"utilization", use.utilization}});
    }
    return json;
}

Json phases_json(std::span<const PhaseFacts> phases) {
    Json json = Json::array();
    for (const PhaseFacts& phase : phases) {
        json.push_back({{"pattern", phase.pattern},
                        {"launch_s", phase.launch.value},
                        {"path_s", phase.path.value},
                        {"latency_s", phase.latency.value},
                        {"bytes", phase.bytes.value},
                        {"bytes_time_s", phase.bytes_time.value},
                        {"bottleneck", phase.bottleneck}});
    }
    return json;
}

Json candidates_json(std::span<const CandidateFacts> candidates) {
    Json json = Json::array();
    for (const CandidateFacts& candidate : candidates) {
        json.push_back({{"algorithm", candidate.algorithm},
                        {"protocol", candidate.protocol},
                        {"time_s", candidate.time.value},
                        {"chosen", candidate.standing == Standing::chosen},
                        {"within_bounds", candidate.standing != Standing::out_of_bounds}});
    }
    return json;
}

Json row_json(const CollectiveRow& row, Detail detail) {
    Json json{{"size_bytes", number<Json>(row.size.value)},
              {"message_bytes", number<Json>(row.message.value)},
              {"time_s", row.time.value},
              {"algbw", row.algorithm_bandwidth.value},
              {"busbw", row.bus_bandwidth.value},
              {"algorithm", row.algorithm},
              {"protocol", row.protocol},
              {"channels", row.channels},
              {"links", links_json(row.links)},
              {"hottest_links", hot_links_json(row.hottest)}};
    if (row.sampled) {
        json["sampled"] = {
            {"p50_s", row.sampled->p50.value}, {"p95_s", row.sampled->p95.value}, {"p99_s", row.sampled->p99.value}};
    }
    if (detail == Detail::explained) {
        json["phases"] = phases_json(row.phases);
        json["candidates"] = candidates_json(row.candidates);
    }
    return json;
}

Json comparison_json(const Comparison& comparison) {
    const ErrorSummary& summary = comparison.summary;
    Json json{{"median_absolute_error", summary.median},
              {"percentile_90_absolute_error", summary.percentile_90},
              {"largest_absolute_error", summary.largest},
              {"median_error", summary.bias}};
    json["rows"] = Json::array();
    for (const ComparedRow& row : comparison.rows) {
        json["rows"].push_back({{"message_bytes", number<Json>(row.message.value)},
                                {"measured_s", row.measured.value},
                                {"predicted_s", row.predicted.value},
                                {"error", row.error()},
                                {"algorithm", row.algorithm},
                                {"protocol", row.protocol},
                                {"line", row.line}});
    }
    return json;
}

}  // namespace

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
    json["rows"] = Json::array();
    for (const CollectiveRow& row : rows) json["rows"].push_back(row_json(row, request.detail));
    if (comparison) json["comparison"] = comparison_json(*comparison);
    return json_text(json);
}

}  // namespace weft
