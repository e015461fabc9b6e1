// What must hold for every step that weft simulates.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/workloads/traffic.hpp"
#include "workloads/report/report.hpp"

namespace weft::test {

// Runs a job to its end and says what does not add up; empty if everything does.
inline std::string unsoundness(const Study& study, Folding folding = Folding::stages) {
    const Simulation run = simulate_step(study, make_plan(study), {.folding = folding});
    const Report report = make_report(run);
    std::string text;
    for (const Metric& metric : report.metrics) {
        if (!std::isfinite(metric.value) || metric.value < 0)
            text += fmt::format("{} is {}\n", metric.key, metric.value);
    }
    const double step = report.metric("step.time_s");
    if (!(step > 0)) text += "no time passes\n";
    const auto differs = [step](double a, double b) { return !(std::abs(a - b) <= 1e-9 * step); };
    const double parts = report.metric("step.compute_s") + report.metric("step.exposed_communication_s") +
                         report.metric("step.bubble_s") + report.metric("step.imbalance_s");
    if (differs(parts, step)) text += fmt::format("parts of {} s in a step of {} s\n", parts, step);
    for (const StageReport& c : report.stages) {
        const double sum = (c.compute + c.exposed + c.idle).value;
        if (differs(sum, step)) text += fmt::format("{}: parts of {} s in a step of {} s\n", c.name, sum, step);
        const MemoryUse& m = c.memory;
        for (const Bytes part : {m.parameters, m.gradients, m.optimizer, m.activations, m.buffers, m.workspace}) {
            if (!(part.value >= 0) || !std::isfinite(part.value)) text += c.name + ": memory is no size\n";
        }
    }
    const TrafficTable program = traffic_of_program(run.step);
    if (run.plan.job.step == StepKind::steady) text += difference(program, traffic_of_tables(run.plan));
    double reported = 0, exchanged = 0;
    for (const CommunicationReport& row : report.communication) reported += row.bytes.value * report.ranks;
    for (const auto& [key, traffic] : program) exchanged += traffic.volume;
    if (std::abs(reported - exchanged) > 1e-9 * exchanged) {
        text += fmt::format("{} B reported, {} B exchanged\n", reported, exchanged);
    }
    return text;
}

}  // namespace weft::test
