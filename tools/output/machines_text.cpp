#include "tools/output/plan_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "sim/io/units.hpp"
#include "tools/output/columns.hpp"
#include "tools/output/result_texts.hpp"

namespace weft {
namespace {

const SimulatedCandidate& best(const MachineAnswer& answer) { return answer.result.simulated.front(); }

const ScreenedCandidate& screened(const MachineAnswer& answer) { return answer.result.candidates[best(answer).number]; }

// The median of a quantity of the run, as `weft run` tells it.
std::string median(const RunResult& run, std::string_view key, std::string_view otherwise) {
    const RunQuantity* const found = run.find(key);
    return found == nullptr ? std::string(otherwise) : run_cell(found->unit, found->spread.p50);
}

ResultTable answers_table(std::span<const MachineAnswer> answers) {
    using Row = MachineAnswer;
    const bool runs = std::ranges::any_of(answers, [](const Row& each) { return each.run.has_value(); });
    const auto of_run = [runs](const char* heading, std::string_view key, std::string_view otherwise) {
        return ColumnOf<Row>("", runs ? std::optional<std::string>(heading) : std::nullopt, [=](const Row& row) {
            return row.run ? median(*row.run, key, otherwise) : std::string();
        });
    };
    const auto nodes = [](const Row& row) { return row.result.space.bases().front().job.nodes; };
    const auto of_best = [](auto get) { return where(&Row::has_layout, get); };
    return table_of<Row>(
        answers,
        {{"", "<machine", &Row::machine},
         {"", "GPUs", as<Count>([](const Row& row) { return row.result.space.accelerators(); })},
         {"", "nodes", as<Count>(nodes)},
         {"", "step time", [](const Row& row) { return row.has_layout() ? to_text(best(row).time) : "none fits"; }},
         {"", "tokens/s", of_best([](const Row& row) { return Count{best(row).tokens_per_second}; })},
         {"", "MFU", of_best([](const Row& row) { return Share{best(row).mfu}; })},
         {"", "memory", of_best([](const Row& row) { return screened(row).memory; })},
         of_run("run", "time_s", {}),
         of_run("goodput", "goodput", {}),
         of_run("energy", "energy_j", "not known"),
         of_run("cost", "cost", "no --price")});
}

std::string why_none(const PlanResult& result) {
    if (result.reasons.empty()) return "every layout needs more memory than a device has";
    std::string text = fmt::format("{}: {}", result.reasons.front().key, result.reasons.front().message);
    if (!result.proposals.empty()) text += fmt::format("; would do: {}", fmt::join(result.proposals, ", or "));
    return text;
}

Json answer_json(const MachineAnswer& answer) {
    const Job& job = answer.result.space.bases().front().job;
    Json json{{"machine", answer.machine}, {"gpus", answer.result.space.accelerators()}, {"nodes", job.nodes}};
    if (!job.assumed.empty()) json["remarks"] = job.assumed;
    if (!answer.has_layout()) {
        json["refused"] = why_none(answer.result);
        if (!answer.result.proposals.empty()) json["would_do"] = answer.result.proposals;
        return json;
    }
    json["layout"] = answer.result.assignments(screened(answer).candidate);
    json["step_time_s"] = best(answer).time.value;
    json["tokens_per_s"] = best(answer).tokens_per_second;
    json["mfu"] = best(answer).mfu;
    json["memory_bytes"] = number<Json>(screened(answer).memory.value);
    if (!answer.run) return json;
    for (const char* const key : {"time_s", "goodput", "energy_j", "cost"}) {
        const RunQuantity* const found = answer.run->find(key);
        json["run"][key] = found == nullptr ? Json() : Json(found->spread.p50);
    }
    json["run"]["assumptions"] = answer.run->plan.assumptions;
    return json;
}

}  // namespace

std::string machines_text(std::span<const MachineAnswer> answers) {
    const Study& first = answers.front().result.space.bases().front();
    std::string text =
        fmt::format("{}, {}, {} sequences of {} tokens\n\n{}\n", model_text(first.job.model), first.job.framework->name,
                    first.job.batch.global, first.job.batch.sequence, table_text(answers_table(answers)));
    std::set<std::string> assumed;
    for (const MachineAnswer& each : answers) {
        text += fmt::format("{}: {}\n", each.machine,
                            each.has_layout() ? settings_text(each.result, best(each).number) : why_none(each.result));
        for (const std::string& remark : each.result.space.bases().front().job.assumed)
            text += fmt::format("  note: {}\n", remark);
        if (each.run) assumed.insert(each.run->plan.assumptions.begin(), each.run->plan.assumptions.end());
    }
    if (!assumed.empty()) text += fmt::format("\nassumed\n  {}\n", fmt::join(assumed, "\n  "));
    return text;
}

std::string machines_json(std::span<const MachineAnswer> answers) {
    return json_text(Json{{"machines", json_list<Json>(answers, answer_json)}});
}

}  // namespace weft
