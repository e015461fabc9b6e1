#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "tools/output/json_text.hpp"
#include "tools/output/number.hpp"
#include "tools/output/run_text.hpp"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 3> kinds_of_failure{"hardware", "software", "planned"};

Json spread_json(const Spread& spread) {
    return {{"p5", number<Json>(spread.p5)},
            {"p50", number<Json>(spread.p50)},
            {"p95", number<Json>(spread.p95)},
            {"mean", number<Json>(spread.mean)}};
}

// What is endless has no number in JSON.
Json time_json(Seconds time) { return time == endless ? Json() : number<Json>(time.value); }

Json failures_json(const RunResult& result) {
    const LongRun& run = result.plan.run;
    Json json = Json::object();
    for (const std::string_view key : kinds_of_failure) {
        json[std::string(key)] = spread_json(result.quantity(key).spread);
    }
    json["mean_time_between_s"] = {{"failures", time_json(result.plan.between_failures)},
                                   {"hardware", time_json(run.hardware)},
                                   {"software", time_json(run.software)},
                                   {"planned", time_json(run.planned)}};
    return json;
}

Json checkpoint_json(const RunPlan& plan) {
    const std::uint64_t between = plan.run.stretches.back().between;
    const bool any = between < plan.run.stretches.back().steps;
    return {{"interval_s", any ? Json(plan.interval.value) : Json()},
            {"interval_steps", any ? Json(between) : Json()},
            {"write_s", plan.run.write.value},
            {"stall_s", plan.run.stall.value},
            {"load_s", plan.run.load.value},
            {"bytes", number<Json>(plan.checkpoint.written.value)}};
}

Json stretches_json(const RunPlan& plan) {
    Json list = Json::array();
    for (const RunStretch& each : plan.stretches) {
        list.push_back({{"batch", each.batch}, {"steps", each.steps}, {"step_s", each.time.value}});
    }
    return list;
}

}  // namespace

std::string run_json(const Job& job, const MachineInfo& machine, const JobRecord& record, const RunResult& result) {
    const RunPlan& plan = result.plan;
    Json json;
    for (const RunQuantity& each : result.quantities) {
        if (std::ranges::find(kinds_of_failure, each.key) != kinds_of_failure.end()) continue;
        json[std::string(each.key)] = spread_json(each.spread);
    }
    if (!plan.power) json["energy_j"] = json["joules_per_token"] = nullptr;
    json["failures"] = failures_json(result);
    json["checkpoint"] = checkpoint_json(plan);
    json["restart"] = {{"detection_s", plan.run.detection.value},
                       {"launch_s", plan.run.launch.value},
                       {"load_s", plan.run.load.value},
                       {"repair_s", plan.run.repair.value},
                       {"spares", plan.run.spares}};
    json["stretches"] = stretches_json(plan);
    json["slow_chips"] = plan.slowdown;
    if (plan.power) json["power_w"] = {{"working", plan.power->working.value}, {"waiting", plan.power->waiting.value}};
    json["assumptions"] = plan.assumptions;
    json["samples"] = result.samples;
    json["seed"] = result.seed;
    json["job"] = job_json(job, machine, record);
    return json_text(json);
}

}  // namespace weft
