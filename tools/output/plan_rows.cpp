#include "tools/output/plan_rows.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "sim/base/hash.hpp"
#include "tools/output/result_cell.hpp"

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

}  // namespace weft
