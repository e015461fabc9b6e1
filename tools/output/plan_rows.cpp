#include "tools/output/plan_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "sim/base/hash.hpp"
#include "tools/output/columns.hpp"

namespace weft {
namespace {

// Of a verdict, for rows.
std::string_view text(Verdict verdict) {
    return verdict == Verdict::refused ? "refused" : verdict == Verdict::does_not_fit ? "does not fit" : "fits";
}

// "key=value" of the bases: the part before and after the sign.
std::pair<std::string, std::string> halves(const std::string& assignment) {
    const std::size_t sign = assignment.find('=');
    return {assignment.substr(0, sign), assignment.substr(sign + 1)};
}

using CandidateNumber = std::size_t;  // the number of a candidate

Columns<CandidateNumber> key_columns(const PlanResult& result) {
    Columns<CandidateNumber> columns;
    for (std::size_t k = 0; k < result.base_assignments.front().size(); ++k) {
        const auto value = [&result, k](CandidateNumber i) {
            return cell_of_json(halves(result.base_assignments[result.candidates[i].candidate.base][k]).second);
        };
        columns.push_back({halves(result.base_assignments.front()[k]).first, "", "tried", value, ColumnKind::key});
    }
    for (std::size_t k = 0; k < result.space.knobs().size(); ++k) {
        const Knob& knob = result.space.knobs()[k];
        const auto value = [&result, &knob, k](CandidateNumber i) {
            const std::uint32_t chosen = result.candidates[i].candidate.values[k];
            return knob.names.empty() ? ResultCell(std::int64_t{chosen}) : cell_of_json(knob.names[chosen]);
        };
        columns.push_back({knob.key, "", "searched", value, ColumnKind::key});
    }
    return columns;
}

std::optional<std::int64_t> memory_of(const ScreenedCandidate& one) {
    return one.verdict == Verdict::refused ? std::nullopt : std::optional<std::int64_t>(std::llround(one.memory.value));
}

// `simulated`: of each candidate that was, or null.
Columns<CandidateNumber> metric_columns(const PlanResult& result,
                                        const std::vector<const SimulatedCandidate*>& simulated) {
    const auto screened = [&result](auto part) {
        return [&result, part](CandidateNumber i) {
            const ScreenedCandidate& one = result.candidates[i];
            return one.timed ? std::optional(std::invoke(part, one.estimate)) : std::nullopt;
        };
    };
    const auto step = [&simulated](auto part) {
        return [&simulated, part](CandidateNumber i) {
            return simulated[i] ? std::optional(std::invoke(part, *simulated[i])) : std::nullopt;
        };
    };
    const auto part = [&step](Seconds StepParts::*member) {
        return step([member](const SimulatedCandidate& one) { return one.parts.*member; });
    };
    return {
        {"memory_peak_bytes", "B", "of the fullest stage",
         [&](CandidateNumber i) { return memory_of(result.candidates[i]); }},
        {"screened_time_s", "s", "one step in closed form", screened(&StepEstimate::time)},
        {"screened_compute_s", "s", "of it, at work, optimizer included; mean over ranks",
         screened(&StepEstimate::compute)},
        {"screened_exposed_communication_s", "s", "of it, communicating and computing nothing; mean over ranks",
         screened(&StepEstimate::exposed)},
        {"screened_waiting_s", "s", "of it, waiting for other stages; mean over ranks",
         screened(&StepEstimate::waiting)},
        {"step_time_s", "s", "one step, simulated", step(&SimulatedCandidate::time)},
        {"step_compute_s", "s", "of it, at work, optimizer included; mean over ranks",
         step([](const SimulatedCandidate& one) { return one.parts.compute + one.parts.optimizer; })},
        {"step_exposed_communication_s", "s", "of it, communicating and computing nothing; mean over ranks",
         part(&StepParts::exposed)},
        {"step_bubble_s", "s", "of it, the busiest stage waits", part(&StepParts::bubble)},
        {"step_imbalance_s", "s", "of it, the other stages wait longer than that; mean over ranks",
         part(&StepParts::imbalance)},
        {"throughput_tokens_per_s", "tokens/s", "of the whole job", step(&SimulatedCandidate::tokens_per_second)},
        {"throughput_model_tflops_per_gpu", "TFLOP/s", "matrix products of forward and backward",
         step(&SimulatedCandidate::model_tflops)},
        {"throughput_mfu", "", "model FLOP/s over the device's peak", step(&SimulatedCandidate::mfu)},
        {"place", "", "among the simulated, 1 the fastest",
         step([&result](const SimulatedCandidate& one) { return &one - result.simulated.data() + 1; })},
    };
}

std::int64_t whole_bytes(Bytes bytes) { return std::llround(bytes.value); }

Json::json_pointer pointer_of(std::string key) {
    std::ranges::replace(key, '.', '/');
    return Json::json_pointer("/" + key);
}

// {"layout": {"tensor": 8, ...}, ...}: as a job file has it.
Json assigned_json(const PlanResult& result, const ScreenedCandidate& screened) {
    Json job = Json::object();
    for (const std::string& assignment : result.assignments(screened.candidate)) {
        const auto [key, text] = halves(assignment);
        const Json value = Json::parse(text, nullptr, false);
        job[pointer_of(key)] = value.is_discarded() ? Json(text) : value;
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

Json simulated_json(const PlanResult& result, const SimulatedCandidate& one) {
    const ScreenedCandidate& screened = result.candidates[one.number];
    const StepParts& parts = one.parts;
    Json json{
        {"job", assigned_json(result, screened)},
        {"step",
         {{"time_s", one.time.value},
          {"compute_s", (parts.compute + parts.optimizer).value},
          {"optimizer_s", parts.optimizer.value},
          {"exposed_communication_s", parts.exposed.value},
          {"bubble_s", parts.bubble.value},
          {"imbalance_s", parts.imbalance.value}}},
        {"throughput",
         {{"tokens_per_s", one.tokens_per_second}, {"model_tflops_per_gpu", one.model_tflops}, {"mfu", one.mfu}}},
        {"memory", {{"peak_bytes", whole_bytes(screened.memory)}, {"capacity_bytes", whole_bytes(result.capacity)}}},
        {"screened_time_s", screened.estimate.time.value}};
    json["slower_by"] =
        json_list<Json>(differences(parts, result.simulated.front().parts), [&](const Difference& difference) {
            return Json{{"part", difference.part}, {"seconds", difference.more.value}};
        });
    return json;
}

}  // namespace

ResultTable plan_rows(const PlanResult& result) {
    std::vector<const SimulatedCandidate*> simulated(result.candidates.size());
    for (const SimulatedCandidate& one : result.simulated) simulated[one.number] = &one;
    const auto verdict = [&](CandidateNumber i) { return text(result.candidates[i].verdict); };
    const auto reason = [&](CandidateNumber i) -> std::optional<std::string> {
        const ScreenedCandidate& one = result.candidates[i];
        if (one.verdict != Verdict::refused) return std::nullopt;
        return result.refusals[one.refusal].key + ": " + result.refusals[one.refusal].message;
    };
    Columns<CandidateNumber> columns = key_columns(result);
    columns.push_back({"verdict", "", "refused, does not fit or fits", verdict, ColumnKind::note});
    std::ranges::move(metric_columns(result, simulated), std::back_inserter(columns));
    columns.push_back({"reason", "", "why it is refused", reason, ColumnKind::note});
    return numbered_table(result.candidates.size(), columns);
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

std::string plan_json(const PlanResult& result, const JobRecord& record, std::size_t top) {
    Json json{{"job", common_json(result, record)}};
    json["candidates"] = {{"all", result.considered},
                          {"refused", result.count(Verdict::refused)},
                          {"does_not_fit", result.count(Verdict::does_not_fit)},
                          {"fits", result.count(Verdict::fits)},
                          {"ruled_out_by_bound", result.count(Verdict::fits) - result.timed()},
                          {"timed", result.timed()},
                          {"simulated", result.simulated.size()}};
    json["refusals"] = table_json(refusals_table(result));
    const std::span<const SimulatedCandidate> simulated(result.simulated);
    json["best"] = json_list<Json>(simulated.first(std::min(top, simulated.size())),
                                   [&](const SimulatedCandidate& one) { return simulated_json(result, one); });
    json["pareto"] = json_list<Json>(result.screened_pareto, [&](std::size_t i) {
        const ScreenedCandidate& screened = result.candidates[i];
        return Json{{"job", assigned_json(result, screened)},
                    {"screened_time_s", screened.estimate.time.value},
                    {"peak_bytes", whole_bytes(screened.memory)}};
    });
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
                                {"peak_bytes", whole_bytes(nearest.memory)},
                                {"capacity_bytes", whole_bytes(result.capacity)}};
    }
    return json_text(json);
}

}  // namespace weft
