#include "tools/output/plan_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "sim/base/hash.hpp"
#include "tools/output/json_text.hpp"
#include "tools/output/result_table.hpp"

namespace weft {

namespace {

// Of a verdict, for rows.
std::string_view text(Verdict verdict) {
    return verdict == Verdict::refused ? "refused" : verdict == Verdict::does_not_fit ? "does not fit" : "fits";
}

ResultCell knob_cell(const Knob& knob, std::uint32_t value) {
    if (knob.names.empty()) return std::int64_t{value};
    return cell_of_json(knob.names[value]);
}

void add_metrics(ResultTable& table) {
    const auto metric = [&](std::string name, std::string unit, std::string meaning) {
        table.columns.push_back({std::move(name), std::move(unit), std::move(meaning), ColumnKind::metric});
    };
    metric("memory_peak_bytes", "B", "of the fullest stage");
    metric("screened_time_s", "s", "one step in closed form");
    metric("screened_compute_s", "s", "of it, at work, optimizer included; mean over ranks");
    metric("screened_exposed_communication_s", "s", "of it, communicating and computing nothing; mean over ranks");
    metric("screened_waiting_s", "s", "of it, waiting for other stages; mean over ranks");
    metric("step_time_s", "s", "one step, simulated");
    metric("step_compute_s", "s", "of it, at work, optimizer included; mean over ranks");
    metric("step_exposed_communication_s", "s", "of it, communicating and computing nothing; mean over ranks");
    metric("step_bubble_s", "s", "of it, the busiest stage waits");
    metric("step_imbalance_s", "s", "of it, the other stages wait longer than that; mean over ranks");
    metric("throughput_tokens_per_s", "tokens/s", "of the whole job");
    metric("throughput_model_tflops_per_gpu", "TFLOP/s", "matrix products of forward and backward");
    metric("throughput_mfu", "", "model FLOP/s over the device's peak");
    metric("place", "", "among the simulated, 1 the fastest");
}

// "key=value" of the bases: the part before and after the sign.
std::pair<std::string, std::string> halves(const std::string& assignment) {
    const std::size_t sign = assignment.find('=');
    return {assignment.substr(0, sign), assignment.substr(sign + 1)};
}

}  // namespace

ResultTable plan_rows(const PlanResult& result) {
    ResultTable table;
    for (const std::string& assignment : result.base_assignments.front()) {
        table.columns.push_back({halves(assignment).first, "", "tried", ColumnKind::key});
    }
    for (const Knob& knob : result.space.knobs()) table.columns.push_back({knob.key, "", "searched", ColumnKind::key});
    table.columns.push_back({"verdict", "", "refused, does not fit or fits", ColumnKind::note});
    add_metrics(table);
    table.columns.push_back({"reason", "", "why it is refused", ColumnKind::note});

    std::vector<std::optional<std::size_t>> place(result.candidates.size());
    for (std::size_t i = 0; i < result.simulated.size(); ++i) place[result.simulated[i].number] = i;
    for (std::size_t i = 0; i < result.candidates.size(); ++i) {
        const ScreenedCandidate& one = result.candidates[i];
        std::vector<ResultCell> row;
        row.reserve(table.columns.size());
        for (const std::string& assignment : result.base_assignments[one.candidate.base]) {
            row.push_back(cell_of_json(halves(assignment).second));
        }
        for (std::size_t k = 0; k < result.space.knobs().size(); ++k) {
            row.push_back(knob_cell(result.space.knobs()[k], one.candidate.values[k]));
        }
        row.emplace_back(std::string(text(one.verdict)));
        if (one.verdict != Verdict::refused) row.emplace_back(std::int64_t{std::llround(one.memory.value)});
        if (one.verdict == Verdict::fits) {
            const StepEstimate& step = one.estimate;
            for (const Seconds part : {step.time, step.compute, step.exposed, step.waiting}) {
                row.emplace_back(part.value);
            }
        }
        if (place[i]) {
            const SimulatedCandidate& step = result.simulated[*place[i]];
            for (const double metric : {step.time.value, (step.parts.compute + step.parts.optimizer).value,
                                        step.parts.exposed.value, step.parts.bubble.value, step.parts.imbalance.value,
                                        step.tokens_per_second, step.model_tflops, step.mfu}) {
                row.emplace_back(metric);
            }
            row.emplace_back(static_cast<std::int64_t>(*place[i] + 1));
        }
        row.resize(table.columns.size());
        if (one.verdict == Verdict::refused) {
            const Refusal& refusal = result.refusals[one.refusal];
            row.back() = refusal.key + ": " + refusal.message;
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

RunRecord plan_record(const PlanResult& result) {
    std::uint64_t hash = 0;
    const auto mix = [&hash](std::uint64_t value) { hash = hash_of({hash, value}); };
    for (const std::vector<std::string>& assignments : result.base_assignments) {
        for (const std::string& assignment : assignments) {
            for (const char c : assignment) mix(static_cast<unsigned char>(c));
        }
    }
    for (const ScreenedCandidate& one : result.candidates) {
        for (const std::uint32_t value : one.candidate.values) mix(value);
        mix(std::bit_cast<std::uint64_t>(one.memory.value));
        mix(std::bit_cast<std::uint64_t>(one.estimate.time.value));
    }
    for (const SimulatedCandidate& one : result.simulated) mix(std::bit_cast<std::uint64_t>(one.time.value));
    return {.command = "plan", .job = result.space.bases().front().job.name, .inputs = fmt::format("{:016x}", hash)};
}

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
