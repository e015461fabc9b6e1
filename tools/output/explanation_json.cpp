#include <nlohmann/json.hpp>

#include "tools/output/explanation_text.hpp"
#include "tools/output/json_text.hpp"
#include "workloads/step/lanes.hpp"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

double seconds(std::int64_t ticks) { return since_start({ticks}).value; }

Json causes_json(const Explanation& found) {
    Json rows = Json::array();
    for (const ExplainedCause& each : found.causes) {
        rows.push_back({{"cause", each.cause.name},
                        {"dimension", each.cause.dimension},
                        {"link", each.cause.link},
                        {"time_s", seconds(each.ticks)},
                        {"on_other_stages_s", seconds(each.elsewhere)}});
    }
    return rows;
}

Json passages_json(const Explanation& found) {
    Json rows = Json::array();
    for (const PathStretch& passage : found.stretches) {
        rows.push_back({{"text", passage.text},
                        {"begin_s", since_start(passage.begin).value},
                        {"time_s", (passage.end - passage.begin).value},
                        {"rank", static_cast<std::uint32_t>(passage.rank)},
                        {"stage", passage.stage},
                        {"cause", cause_text(passage.cause)}});
    }
    return rows;
}

Json slack_json(const Explanation& found) {
    Json rows = Json::array();
    for (const Slack& row : found.slack) {
        rows.push_back({{"dimension", row.dimension},
                        {"op", row.op},
                        {"calls", row.calls},
                        {"least_s", row.least.value},
                        {"median_s", row.median.value}});
    }
    return rows;
}

Json device_json(const DeviceRoofline& device) {
    Json rows = Json::array();
    for (const KernelClassUse& use : device.kernels) {
        rows.push_back({{"kernels", use.name},
                        {"time_s", use.time.value},
                        {"flops", use.flops.value},
                        {"memory_bytes", use.bytes.value},
                        {"peak_flops_per_s", use.peak.value},
                        {"bound_by_products_s", use.computing.value},
                        {"bound_by_memory_s", use.moving.value},
                        {"gaps_s", use.gaps.value},
                        {"bound_by", use.bound()}});
    }
    return rows;
}

Json fabric_json(const std::vector<FabricUse>& fabric) {
    Json rows = Json::array();
    for (const FabricUse& use : fabric) {
        rows.push_back({{"dimension", use.dimension},
                        {"link", use.link},
                        {"calls", use.calls},
                        {"bus_bytes", use.bytes.value},
                        {"time_s", use.time.value},
                        {"line_rate_time_s", use.line.value},
                        {"bandwidth_s", use.transfer.value},
                        {"endpoint_s", use.endpoint.value},
                        {"latency_s", use.latency.value},
                        {"sharing_s", use.sharing.value},
                        {"bound_by", use.bound()}});
    }
    return rows;
}

Json rooflines_json(const Rooflines& found) {
    return {{"stage", found.stage},
            {"peak_flops_per_s", found.device.peak.value},
            {"sustained_flops_per_s", found.device.sustained.value},
            {"memory_bytes_per_s", found.device.memory.value},
            {"sustained_memory_bytes_per_s", found.device.sustained_memory.value},
            {"busy_s", found.device.busy().value},
            {"device", device_json(found.device)},
            {"fabric", fabric_json(found.fabric)}};
}

Json settings_json(const JobExplanation& explained) {
    Json rows = Json::array();
    for (const ExplainedSetting& setting : explained.settings) {
        rows.push_back({{"set", setting.assignments},
                        {"step_s", setting.is_told() ? Json(setting.step.value) : Json(nullptr)},
                        {"memory_bytes", static_cast<std::int64_t>(setting.memory.value)},
                        {"fits", setting.fits},
                        {"simulated", setting.fits && setting.means == Means::simulated},
                        {"means", setting.is_told() ? Json(name(setting.means)) : Json(nullptr)},
                        {"changes_numerics", setting.changes_numerics}});
    }
    return rows;
}

}  // namespace

std::string explanation_json(const JobExplanation& explained, const JobRecord& record) {
    const Explanation& found = explained.explanation;
    const Plan& plan = explained.step.run.plan;
    Json json{{"step_s", since_start(found.end).value},
              {"path",
               {{"main_stage", found.main_stage},
                {"causes", causes_json(found)},
                {"passages", passages_json(found)},
                {"slack", slack_json(found)}}}};
    json["rooflines"] = rooflines_json(found.rooflines);
    json["knobs"] = Json::array();
    for (const ExplainedKnob& knob : explained.knobs) {
        json["knobs"].push_back({{"knob", knob.knob},
                                 {"change", knob.change},
                                 {"step_s", knob.is_told() ? Json(knob.step.value) : Json(nullptr)},
                                 {"simulated", knob.means == Means::simulated},
                                 {"means", knob.is_told() ? Json(name(knob.means)) : Json(nullptr)}});
    }
    json["settings"] = settings_json(explained);
    json["job"] = job_json(plan.job, plan.machine, record);
    return json_text(json);
}

}  // namespace weft
