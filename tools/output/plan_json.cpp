#include "tools/output/plan_json.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "tools/output/json_text.hpp"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

std::int64_t whole(Bytes bytes) { return std::llround(bytes.value); }

Json::json_pointer pointer_of(std::string key) {
    std::ranges::replace(key, '.', '/');
    return Json::json_pointer("/" + key);
}

// {"layout": {"tensor": 8, ...}, ...}: as a job file has it.
Json assigned_json(const PlanResult& result, const ScreenedCandidate& screened) {
    Json job = Json::object();
    for (const std::string& assignment : result.assignments(screened)) {
        const std::size_t sign = assignment.find('=');
        const Json value = Json::parse(assignment.substr(sign + 1), nullptr, false);
        job[pointer_of(assignment.substr(0, sign))] = value.is_discarded() ? Json(assignment.substr(sign + 1)) : value;
    }
    return job;
}

// What all candidates have in common: the job without what was searched for, and without what follows from that.
Json common_json(const PlanResult& result, const JobRecord& record) {
    const Study& base = result.space.bases().front();
    Json common = job_json(base.job, base.machine.info(), record);
    std::vector<std::string> open{"layout.ranks", "layout.data", "batch.micro_batches", "runnable"};
    for (const Knob& knob : result.space.knobs()) open.push_back(knob.key);
    for (const std::string& key : open) {
        const Json::json_pointer path = pointer_of(key);
        if (common.contains(path)) common.at(path.parent_pointer()).erase(path.back());
    }
    return common;
}

Json slower_by(const StepParts& slower, const StepParts& faster) {
    Json list = Json::array();
    for (const Difference& difference : differences(slower, faster)) {
        list.push_back({{"part", difference.part}, {"seconds", difference.more.value}});
    }
    return list;
}

Json simulated_json(const PlanResult& result, const SimulatedCandidate& one) {
    const ScreenedCandidate& screened = result.candidates[one.number];
    const StepParts& parts = one.parts;
    Json json{{"job", assigned_json(result, screened)},
              {"step",
               {{"time_s", one.time.value},
                {"compute_s", (parts.compute + parts.optimizer).value},
                {"optimizer_s", parts.optimizer.value},
                {"exposed_communication_s", parts.exposed.value},
                {"bubble_s", parts.bubble.value},
                {"imbalance_s", parts.imbalance.value}}},
              {"throughput",
               {{"tokens_per_s", one.tokens_per_second}, {"model_tflops_per_gpu", one.model_tflops}, {"mfu", one.mfu}}},
              {"memory", {{"peak_bytes", whole(screened.memory)}, {"capacity_bytes", whole(result.capacity)}}},
              {"screened_time_s", screened.estimate.time.value}};
    json["slower_by"] = slower_by(parts, result.simulated.front().parts);
    return json;
}

Json screened_json(const PlanResult& result, const ScreenedCandidate& screened) {
    return {{"job", assigned_json(result, screened)},
            {"screened_time_s", screened.estimate.time.value},
            {"peak_bytes", whole(screened.memory)}};
}

}  // namespace

std::string plan_json(const PlanResult& result, const JobRecord& record, std::size_t top) {
    Json json{{"job", common_json(result, record)}};
    json["candidates"] = {{"all", result.candidates.size()},
                          {"refused", result.count(Verdict::refused)},
                          {"does_not_fit", result.count(Verdict::does_not_fit)},
                          {"fits", result.count(Verdict::fits)},
                          {"simulated", result.simulated.size()}};
    json["refusals"] = Json::array();
    for (const RefusalReason& reason : result.reasons) {
        json["refusals"].push_back(
            {{"key", reason.key}, {"reason", reason.message}, {"candidates", reason.candidates}});
    }
    json["best"] = Json::array();
    for (std::size_t i = 0; i < std::min(top, result.simulated.size()); ++i) {
        json["best"].push_back(simulated_json(result, result.simulated[i]));
    }
    json["pareto"] = Json::array();
    for (const std::size_t i : result.screened_pareto) {
        json["pareto"].push_back(screened_json(result, result.candidates[i]));
    }
    const ScreeningQuality& quality = result.quality;
    if (!result.simulated.empty()) {
        json["screening"] = {{"rank_correlation", quality.rank_correlation},
                             {"mean_error", quality.mean_error},
                             {"largest_error", quality.largest_error},
                             {"place_of_best", quality.best + 1},
                             {"not_simulated_as_close", quality.close}};
    } else if (result.count(Verdict::does_not_fit) > 0) {
        const ScreenedCandidate& nearest = result.nearest_miss();
        json["nearest_miss"] = {{"job", assigned_json(result, nearest)},
                                {"peak_bytes", whole(nearest.memory)},
                                {"capacity_bytes", whole(result.capacity)}};
    }
    return json_text(json);
}

}  // namespace weft
