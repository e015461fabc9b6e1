#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/base/enumerators.hpp"
#include "tools/output/columns.hpp"
#include "tools/output/report_text.hpp"

namespace weft {
namespace {

Json validity_json(const Validity& validity) {
    Json job;
    for (std::size_t i = 0; i < trait_names.size(); ++i) job[std::string(trait_names[i])] = validity.job.values[i];
    job["ranks"] = std::llround(validity.job.ranks);
    return {{"job", job}, {"step_time", evidence_json(validity.step_time)}, {"memory", evidence_json(validity.memory)}};
}

Json diagnostic_json(const Diagnostic& diagnostic) {
    Json json;
    if (!diagnostic.file.empty()) json["file"] = diagnostic.file;
    if (diagnostic.line > 0) json["line"] = diagnostic.line;
    if (diagnostic.column > 0) json["column"] = diagnostic.column;
    if (!diagnostic.key.empty()) json["key"] = diagnostic.key;
    json["message"] = diagnostic.message;
    const std::vector<std::string> names = suggested_names(diagnostic.message);
    if (!names.empty()) json["suggestion"] = names.front();
    return json;
}

Json advice_json(std::span<const MemoryAdvice> advice) {
    return json_list<Json>(advice, [&](const MemoryAdvice& each) {
        return Json{{"changes", each.changes},
                    {"peak_bytes", std::llround(each.peak.value)},
                    {"saved_bytes", std::llround(each.saved.value)},
                    {"fits", each.fits}};
    });
}

Json heading_json(const Report& report, const Plan& plan, const JobRecord& record, const Validity& validity) {
    Json json;
    json["job"] = job_json(plan.job, plan.machine, record);
    json["job"]["network"] = report.network;
    json["job"]["text"] = fmt::format("{} on {}: {}; {}", report.model, report.machine, report.layout, report.batch);
    json["step"] = nullptr;
    json["throughput"] = nullptr;
    for (const Metric& metric : report.metrics) {
        const std::size_t dot = metric.key.find('.');
        json[std::string(metric.key.substr(0, dot))][std::string(metric.key.substr(dot + 1))] = value_of<Json>(metric);
    }
    if (!report.advice.empty()) json["memory"]["advice"] = advice_json(report.advice);
    json["validation"] = validity_json(validity);
    return json;
}

}  // namespace

Json evidence_json(const Evidence& evidence) {
    Json json{{"validated", evidence.is_of_the_kind()}, {"rows", evidence.errors.rows}};
    if (evidence.errors.rows == 0) return json;
    json.update({{"sets", evidence.sets},
                 {"ranks", {std::llround(evidence.least_ranks), std::llround(evidence.most_ranks)}},
                 {"unlike", evidence.unlike},
                 {"mean", evidence.errors.mean},
                 {"p90", evidence.errors.percentile_90},
                 {"bias", evidence.errors.bias}});
    for (const auto& [set, cause] : evidence.causes) json["causes"][set] = cause.empty() ? Json() : Json(cause);
    return json;
}

Json calls_json(const std::vector<CallReport>& calls) {
    using Row = CallReport;
    return table_json(table_of<Row>(calls, {{"message_bytes", {}, whole(&Row::message)},
                                            {"algorithm", {}, inside(&Row::method, &Method::algorithm)},
                                            {"protocol", {}, inside(&Row::method, &Method::protocol)},
                                            {"channels", {}, inside(&Row::method, &Method::channels)},
                                            {"calls", {}, &Row::calls},
                                            {"time_s", {}, &Row::time},
                                            {"busbw", {}, &Row::bus_bandwidth}}));
}

Json diagnostics_json(std::span<const Diagnostic> diagnostics) { return json_list<Json>(diagnostics, diagnostic_json); }

Json notes_json(std::span<const FormatNote> notes) {
    return json_list<Json>(notes, [&](const FormatNote& note) {
        return Json{{"key", note.origin.key},
                    {"severity", enumerator_name(note.severity)},
                    {"message", note.message},
                    {"file", note.origin.file},
                    {"line", note.origin.line}};
    });
}

Json planned_memory_json(const Plan& plan, std::span<const MemoryAdvice> advice) {
    const MemoryUse& memory = plan.stages[plan.fullest_stage()].memory;
    Json json{{"fits", plan.fits()},
              {"fullest_stage", plan.fullest_stage()},
              {"peak_bytes", std::llround(memory.total().value)},
              {"peak_at", place_name(memory.at)},
              {"allocated_bytes", std::llround(memory.allocated().value)},
              {"reserved_bytes", std::llround(plan.reserved().value)},
              {"least_bytes", std::llround(memory.least().value)},
              {"most_bytes", std::llround(memory.most().value)},
              {"capacity_bytes", std::llround(plan.device.memory.value)}};
    if (!advice.empty()) json["advice"] = advice_json(advice);
    return json;
}

std::string planned_json(const Report& report, const Plan& plan, const JobRecord& record, const Validity& validity) {
    Json json = heading_json(report, plan, record, validity);
    Json memory = table_json(memory_table(report.stages));
    for (const StageReport& stage : report.stages) {
        json["stages"].push_back({{"name", stage.name},
                                  {"stage", stage.stage},
                                  {"layers", stage.layers},
                                  {"memory", std::move(memory[json["stages"].size()])}});
    }
    return json_text(json);
}

std::string report_json(const Report& report, const Plan& plan, const JobRecord& record, const Validity& validity,
                        Seconds wall) {
    Json json = heading_json(report, plan, record, validity);
    json["stages"] = table_json(stage_table(report.stages));
    const Json memory = table_json(memory_table(report.stages));
    for (std::size_t i = 0; i < memory.size(); ++i) json["stages"][i]["memory"] = memory[i];
    json["communication"] = table_json(communication_table(report));
    for (std::size_t i = 0; i < report.communication.size(); ++i) {
        json["communication"][i]["by_message"] = calls_json(report.communication[i].by_message);
    }
    json["links"] = table_json(link_table(report.links));
    json["hottest_links"] = table_json(hot_links_table(report.hottest));
    if (report.congested) {
        const auto& [mean, p50, p95, p99] = *report.congested;
        json["congested"] = {{"mean_s", mean.value}, {"p50_s", p50.value}, {"p95_s", p95.value}, {"p99_s", p99.value}};
    }
    const Json splits = json_list<Json>(report.splits, [](const Split& split) {
        return Json{{"classes", split.classes}, {"reason", split.reason}};
    });
    json["simulation"] = {{"ranks", report.ranks}, {"classes", report.classes}, {"folding", name(report.folding)},
                          {"splits", splits},      {"events", report.events},   {"solves", report.solves},
                          {"wall_s", wall.value}};
    if (report.folding == Folding::stages) {
        json["simulation"]["folding_error"] = {{"step", {-folding_error.step_below, folding_error.step_above}},
                                               {"exposed", folding_error.exposed}};
    }
    if (report.exact) {
        json["simulation"]["exact"] = {{"time_s", report.exact->time().value},
                                       {"memory_bytes", report.exact->memory().value}};
    }
    return json_text(json);
}

std::string import_json(const Format& format, const Import& import) {
    Json facts = Json::object();
    for (const FormatFact& fact : import.facts) facts[fact.name] = Json::parse(fact.json);
    const Json result{{"format", format.name},
                      {"kind", to_text(import.kind)},
                      {"object", Json::parse(import.object.json())},
                      {"facts", std::move(facts)},
                      {"notes", notes_json(import.notes)}};
    return json_text(result);
}

}  // namespace weft
