#include "tools/output/run_rows.hpp"

#include <fmt/format.h>

#include <array>
#include <span>
#include <string_view>

#include "sim/io/units.hpp"
#include "tools/output/figures.hpp"
#include "tools/output/model_text.hpp"

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
    return line + (plan.slowdown > 1
                       ? fmt::format("; slow chips take {:.1f} % more to compute", 100 * (plan.slowdown - 1))
                       : "");
}

std::string failure_line(const LongRun& run) {
    std::string line;
    const auto add = [&](std::string_view what, Seconds mean) {
        if (mean != endless)
            line += fmt::format("{}{} every {}", line.empty() ? "" : ", ", what, long_time(mean.value));
    };
    add("hardware", run.hardware);
    add("software", run.software);
    add("planned stops", run.planned);
    return line;
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

std::vector<RunFact> run_facts(const RunResult& result) {
    const RunPlan& plan = result.plan;
    const LongRun& run = plan.run;
    std::vector<RunFact> facts;
    facts.push_back({"step", step_line(plan)});
    const std::uint64_t between = run.stretches.back().between;
    facts.push_back(
        {"checkpoint", fmt::format("{}, written in {}, steps wait {}{}", to_text(plan.checkpoint.written),
                                   long_time(run.write.value), long_time(run.stall.value),
                                   between < run.stretches.back().steps
                                       ? fmt::format("; every {} ({} steps)", long_time(plan.interval.value),
                                                     grouped(static_cast<double>(between)))
                                       : "; none before the end")});
    facts.push_back({"failures", failure_line(run)});
    facts.push_back({"restart", fmt::format("detection {}, launch {}, loading {}", long_time(run.detection.value),
                                            long_time(run.launch.value), long_time(run.load.value))});
    facts.push_back(
        {"spares", fmt::format("{} nodes, back after {}", grouped(run.spares), long_time(run.repair.value))});
    if (plan.power) {
        facts.push_back(
            {"power", fmt::format("{} in steps, {} else", to_text(plan.power->working), to_text(plan.power->waiting))});
    }
    return facts;
}

}  // namespace weft
