#include "tools/output/machines_text.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <vector>

#include "sim/io/units.hpp"
#include "tools/output/columns.hpp"
#include "tools/output/plan_text.hpp"
#include "tools/output/run_text.hpp"

namespace weft {
namespace {

const SimulatedCandidate& best(const MachineAnswer& answer) { return answer.result.simulated.front(); }

const ScreenedCandidate& screened(const MachineAnswer& answer) { return answer.result.candidates[best(answer).number]; }

// What the best layout says beside what every job says.
std::string layout_text(const MachineAnswer& answer) {
    std::vector<std::string> texts;
    const std::vector<Knob>& knobs = answer.result.space.knobs();
    for (std::size_t k = 0; k < knobs.size(); ++k) {
        const std::uint32_t value = screened(answer).candidate.values[k];
        if (value == knobs[k].neutral) continue;
        texts.push_back(fmt::format("{} {}", knobs[k].key.substr(knobs[k].key.rfind('.') + 1), knobs[k].text(value)));
    }
    return fmt::format("{}", fmt::join(texts, ", "));
}

// A figure of the run, in the units of `weft run`.
template <auto member>
std::optional<std::string> run_figure(const MachineAnswer& answer, RunUnit unit) {
    if (!answer.run) return std::nullopt;
    const auto& value = (*answer.run).*member;
    if constexpr (Optional<std::remove_cvref_t<decltype(value)>>) {
        return value ? std::optional(run_cell(unit, plain_number(*value))) : std::nullopt;
    } else {
        return run_cell(unit, plain_number(value));
    }
}

using Cells = std::vector<std::string>;

std::string table_of_answers(std::span<const MachineAnswer> answers) {
    Cells headings{"<machine", "GPUs", "nodes", "step time", "tokens/s", "MFU", "memory"};
    const bool runs = std::ranges::any_of(answers, [](const MachineAnswer& each) { return each.run.has_value(); });
    if (runs) headings.insert(headings.end(), {"run", "goodput", "energy", "cost"});
    TextTable table(headings);
    for (const MachineAnswer& each : answers) {
        const SearchSpace& space = each.result.space;
        Cells cells{each.machine, grouped(space.accelerators()), grouped(space.bases().front().job.nodes)};
        if (each.has_layout()) {
            const Cells figures{to_text(best(each).time), grouped(best(each).tokens_per_second),
                                percent(best(each).mfu), to_text(screened(each).memory)};
            cells.insert(cells.end(), figures.begin(), figures.end());
        } else {
            cells.emplace_back("none fits");
        }
        if (each.run) {
            cells.push_back(*run_figure<&RunAnswer::time>(each, RunUnit::time));
            cells.push_back(*run_figure<&RunAnswer::goodput>(each, RunUnit::share));
            cells.push_back(run_figure<&RunAnswer::energy>(each, RunUnit::energy).value_or("not known"));
            cells.push_back(run_figure<&RunAnswer::cost>(each, RunUnit::cost).value_or("no --price"));
        }
        table.add(cells);
    }
    return table.text();
}

std::string why_none(const PlanResult& result) {
    if (result.reasons.empty()) return "every layout needs more memory than a device has";
    std::string text = fmt::format("{}: {}", result.reasons.front().key, result.reasons.front().message);
    if (!result.proposals.empty()) text += fmt::format("; would do: {}", fmt::join(result.proposals, ", or "));
    return text;
}

}  // namespace

std::string machines_text(std::span<const MachineAnswer> answers) {
    const Study& first = answers.front().result.space.bases().front();
    std::string text =
        fmt::format("{}, {}, {} sequences of {} tokens\n\n{}\n", model_text(first.job.model), first.job.framework->name,
                    first.job.batch.global, first.job.batch.sequence, table_of_answers(answers));
    std::set<std::string> assumed;
    for (const MachineAnswer& each : answers) {
        text += fmt::format("{}: {}\n", each.machine, each.has_layout() ? layout_text(each) : why_none(each.result));
        for (const std::string& remark : each.result.space.bases().front().job.assumed)
            text += fmt::format("  note: {}\n", remark);
        if (!each.run) continue;
        for (const std::string& assumption : each.run->assumptions) {
            assumed.insert(assumption);
        }
    }
    if (!assumed.empty()) text += fmt::format("\nassumed\n  {}\n", fmt::join(assumed, "\n  "));
    return text;
}

std::string machines_json(std::span<const MachineAnswer> answers) {
    using Json = nlohmann::ordered_json;
    Json machines = Json::array();
    for (const MachineAnswer& each : answers) {
        const Job& job = each.result.space.bases().front().job;
        Json json{{"machine", each.machine}, {"gpus", each.result.space.accelerators()}, {"nodes", job.nodes}};
        if (!job.assumed.empty()) json["remarks"] = job.assumed;
        if (!each.has_layout()) {
            json["refused"] = why_none(each.result);
            if (!each.result.proposals.empty()) json["would_do"] = each.result.proposals;
            machines.push_back(std::move(json));
            continue;
        }
        json["layout"] = each.result.assignments(screened(each));
        json["step_time_s"] = best(each).time.value;
        json["tokens_per_s"] = best(each).tokens_per_second;
        json["mfu"] = best(each).mfu;
        json["memory_bytes"] = number<Json>(screened(each).memory.value);
        if (each.run) {
            json["run"] = {{"time_s", each.run->time.value},
                           {"goodput", each.run->goodput},
                           {"energy_j", each.run->energy ? Json(each.run->energy->value) : Json()},
                           {"cost", each.run->cost ? Json(*each.run->cost) : Json()},
                           {"assumptions", each.run->assumptions}};
        }
        machines.push_back(std::move(json));
    }
    return json_text(Json{{"machines", std::move(machines)}});
}

}  // namespace weft
