#include "tools/output/result_texts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <span>

#include "sim/io/units.hpp"
#include "tools/output/figures.hpp"
#include "tools/output/json_text.hpp"

namespace weft {
namespace {

struct Scale {
    double size;
    std::string_view unit;
};

// In the first unit, of descending ones, of which there is at least one, or the last: "54.0 d".
std::string in_units(double value, std::span<const Scale> scales) {
    for (const Scale& scale : scales) {
        if (value < scale.size && &scale != &scales.back()) continue;
        const double number = value / scale.size;
        return fmt::format("{:.{}f} {}", number, number < 9.995 ? 2 : number < 99.95 ? 1 : 0, scale.unit);
    }
    return {};
}

std::string long_time(double seconds) {
    constexpr std::array<Scale, 3> scales{{{86400, "d"}, {3600, "h"}, {60, "min"}}};
    return seconds < 60 ? to_text(Seconds{seconds}) : in_units(seconds, scales);
}

std::string decimal_text(double value) {
    constexpr std::array<Scale, 4> scales{{{1e12, "T"}, {1e9, "B"}, {1e6, "M"}, {1e3, "K"}}};
    return value < 1e3 ? grouped(value) : in_units(value, scales);
}

std::string step_line(const RunPlan& plan) {
    const RunStretch& last = plan.stretches.back();
    std::string line = fmt::format("{} of {} sequences", to_text(last.time), grouped(last.batch));
    if (plan.stretches.size() > 1) {
        const RunStretch& first = plan.stretches.front();
        line += fmt::format(", at first {} of {}, {} batches in all", to_text(first.time), grouped(first.batch),
                            plan.stretches.size());
    }
    if (plan.congestion != 1) {
        line += fmt::format("; flows of other jobs, come at random (assumed), take {:+.1f} % on average",
                            100 * (plan.congestion - 1));
    }
    return line + (plan.slowdown > 1
                       ? fmt::format("; slow chips take {:.1f} % more to compute", 100 * (plan.slowdown - 1))
                       : "");
}

std::string failure_line(const LongRun& run) {
    const auto every = [](std::string_view what, Seconds mean) {
        return mean == endless ? fmt::format("no {}", what) : fmt::format("{} every {}", what, long_time(mean.value));
    };
    return every("hardware", run.hardware) + ", " + every("software", run.software) + ", " +
           every("planned stops", run.planned);
}

// "spares, interval": the figures of a run that come from there.
std::string figures_from(const RunPlan& plan, RunFigures::Origin origin) {
    std::string names =
        comma_list(plan.origins, [&](const auto& each) { return each.second == origin ? each.first : ""; });
    std::ranges::replace(names, '_', ' ');
    return names.empty() ? "nothing" : names;
}

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
            {"storage_share", plan.storage_share},
            {"bytes", number<Json>(plan.checkpoint.written.value)}};
}

Json stretches_json(const RunPlan& plan) {
    return json_list<Json>(plan.stretches, [&](const RunStretch& each) {
        return Json{{"batch", each.batch}, {"steps", each.steps}, {"step_s", each.time.value}};
    });
}

}  // namespace

std::string run_heading(const Job& job, const MachineInfo& machine) {
    return fmt::format("{} on {}: {} ranks = {} on {} nodes, {}", model_text(job.model), machine.name,
                       job.layout.ranks(), axes(job.layout), job.nodes, job.framework->name);
}

std::string played_text(const RunResult& result) {
    return fmt::format("{} runs played, seed {}", grouped(static_cast<double>(result.samples)), result.seed);
}

bool is_part(const RunQuantity& quantity) { return quantity.unit == RunUnit::time && quantity.key != "time_s"; }

std::string run_cell(RunUnit unit, double value) {
    constexpr double kilowatt_hour = 3.6e6;
    constexpr std::array<Scale, 3> energies{
        {{1e6 * kilowatt_hour, "GWh"}, {1e3 * kilowatt_hour, "MWh"}, {kilowatt_hour, "kWh"}}};
    switch (unit) {
        case RunUnit::time:
            return long_time(value);
        case RunUnit::share:
            return percent(value);
        case RunUnit::count:
            return grouped(value);
        case RunUnit::tokens:
            return decimal_text(value);
        case RunUnit::energy:
            return in_units(value, energies);
        case RunUnit::per_token:
            return fmt::format("{:.3g} J", value);
        case RunUnit::cost:
            break;
    }
    return grouped(value);
}

TextTable run_quantities(const RunResult& result, std::string_view (*label)(const RunQuantity& quantity)) {
    TextTable table({"<", "p5", "p50", "p95", "mean", "of the run"});
    const double wall = result.quantity("time_s").spread.mean;
    for (const RunQuantity& each : result.quantities) {
        const Spread& s = each.spread;
        table.add({std::string(label(each)), run_cell(each.unit, s.p5), run_cell(each.unit, s.p50),
                   run_cell(each.unit, s.p95), run_cell(each.unit, s.mean),
                   is_part(each) ? percent(s.mean / wall) : ""});
    }
    return table;
}

TextTable run_facts(const RunResult& result) {
    const RunPlan& plan = result.plan;
    const LongRun& run = plan.run;
    TextTable facts({"<", "<"});
    facts.add({"step", step_line(plan)});
    const std::uint64_t between = run.stretches.back().between;
    facts.add({"checkpoint", fmt::format("{}, written in {}, steps wait {}{}", to_text(plan.checkpoint.written),
                                         long_time(run.write.value), long_time(run.stall.value),
                                         between < run.stretches.back().steps
                                             ? fmt::format("; every {} ({} steps)", long_time(plan.interval.value),
                                                           grouped(static_cast<double>(between)))
                                             : "; none before the end") +
                                 fmt::format("; {} of the file system", percent(plan.storage_share))});
    facts.add({"failures", failure_line(run)});
    facts.add({"restart", fmt::format("detection {}, launch {}, loading {}; a planned stop {} before its launch",
                                      long_time(run.detection.value), long_time(run.launch.value),
                                      long_time(run.load.value), long_time(run.stop.value))});
    facts.add({"spares", fmt::format("{} nodes, back after {}", grouped(run.spares), long_time(run.repair.value))});
    if (plan.power) {
        facts.add(
            {"power", fmt::format("{} in steps, {} else", to_text(plan.power->working), to_text(plan.power->waiting))});
    }
    using enum RunFigures::Origin;
    facts.add({"by option", figures_from(plan, asked)});
    facts.add({"by machine", figures_from(plan, machine)});
    facts.add({"by default", figures_from(plan, assumed)});
    return facts;
}

std::string run_text(const Job& job, const MachineInfo& machine, const RunResult& result) {
    std::string text = run_heading(job, machine) + fmt::format("\n{}\n\n", played_text(result));
    text += run_quantities(result, [](const RunQuantity& each) { return std::string_view(each.label); }).text() + '\n';
    text += run_facts(result).text().substr(1);
    if (!result.plan.assumptions.empty()) text += "\nassumed\n";
    for (const std::string& assumption : result.plan.assumptions) text += "  " + assumption + '\n';
    return text;
}

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
    json["restart"] = {{"detection_s", plan.run.detection.value}, {"stop_s", plan.run.stop.value},
                       {"launch_s", plan.run.launch.value},       {"load_s", plan.run.load.value},
                       {"repair_s", plan.run.repair.value},       {"spares", plan.run.spares}};
    json["stretches"] = stretches_json(plan);
    json["slow_chips"] = plan.slowdown;
    json["congestion"] = plan.congestion;
    if (plan.power) json["power_w"] = {{"working", plan.power->working.value}, {"waiting", plan.power->waiting.value}};
    for (const auto& [name, origin] : plan.origins) json["origins"][std::string(name)] = enumerator_name(origin);
    json["assumptions"] = plan.assumptions;
    json["samples"] = result.samples;
    json["seed"] = result.seed;
    json["job"] = job_json(job, machine, record);
    return json_text(json);
}

}  // namespace weft
