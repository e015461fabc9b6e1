#include "workloads/endurance/run_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/io/diagnostics.hpp"
#include "sim/io/units.hpp"
#include "workloads/plan/stage_memory.hpp"

namespace weft {
namespace {

std::optional<RunPower> power_of(const Plan& plan, const std::vector<RunStretch>& stretches, const LongRun& run,
                                 RunFigures& figures) {
    const DevicePower& device = plan.device.power;
    if (!device.is_known()) {
        figures.assumptions.push_back(fmt::format("energy is not told: the device {} has no power", plan.device.name));
        return std::nullopt;
    }
    const std::optional<NodePower>& node = plan.machine.operation.power;
    if (!node)
        figures.assumptions.push_back(
            fmt::format("energy of accelerators alone: {} has no power of a node", plan.machine.name));
    const double overhead = node ? node->overhead : 1.0;
    const Watts rest = node ? node->node * static_cast<double>(plan.job.nodes) : Watts{};
    const double ranks = plan.job.layout.ranks();
    Joules all;
    Seconds time;
    for (std::size_t i = 0; i < stretches.size(); ++i) {
        const RunStretch& s = stretches[i];
        const double steps = static_cast<double>(run.stretches[i].steps);
        const Joules step = device.compute * s.compute + device.communication * s.exposed +
                            device.idle * (s.time - s.compute - s.exposed);
        all += (step * ranks + rest * s.time) * steps;
        time += s.time * steps;
    }
    return RunPower{.working = Watts{all.value / time.value} * overhead,
                    .waiting = (device.idle * ranks + rest) * overhead};
}

// As many steps of each stretch as the run has tokens, steps or time for, the last one taking the rest.
void set_length(RunPlan& plan, const RunTerms& terms) {
    double left = terms.tokens ? *terms.tokens : terms.steps ? static_cast<double>(*terms.steps) : terms.time->value;
    constexpr double most = 1e15;  // steps: far from where doubles and counters end
    for (RunStretch& each : plan.stretches) {
        const double one = terms.tokens ? plan.sequence * each.batch : terms.steps ? 1.0 : each.time.value;
        if (left / one >= most) {
            throw RangeError("the run has {:.3g} steps of {}: up to {:.0e} can be played", left / one,
                             to_text(each.time), most);
        }
        const auto rest = static_cast<std::uint64_t>(std::ceil(left / one));
        each.steps = &each == &plan.stretches.back() ? rest : std::min(each.steps, rest);
        left = std::max(left - static_cast<double>(each.steps) * one, 0.0);
    }
    if (terms.time) {
        plan.run.horizon = *terms.time;
        ++plan.stretches.back().steps;  // that the clock ends it
    }
    std::erase_if(plan.stretches, [](const RunStretch& each) { return each.steps == 0; });
}

}  // namespace

std::string obstacle(const BatchRamp& ramp, std::uint32_t global, std::uint64_t unit) {
    if (ramp.start == 0 || ramp.increment == 0) return "start and increment are at least 1";
    if (ramp.start >= global) return fmt::format("it starts at {}, the job's batch is {}", ramp.start, global);
    if ((global - ramp.start) % ramp.increment != 0) {
        return fmt::format("increments of {} do not lead from {} to the job's batch of {}", ramp.increment, ramp.start,
                           global);
    }
    if (ramp.start % unit != 0 || ramp.increment % unit != 0) {
        return fmt::format("start and increment must be multiples of {}, a micro-batch on every data rank", unit);
    }
    return {};
}

std::vector<BatchStretch> stretches(const BatchRamp& ramp, std::uint32_t global) {
    const std::uint64_t sizes = (global - ramp.start) / ramp.increment;
    std::vector<BatchStretch> result;
    std::uint64_t consumed = 0;
    for (std::uint64_t i = 0; i < sizes; ++i) {
        const auto batch = static_cast<std::uint32_t>(ramp.start + i * ramp.increment);
        const std::uint64_t until = ramp.samples * (i + 1) / sizes;
        const std::uint64_t steps = until > consumed ? (until - consumed + batch - 1) / batch : 0;
        consumed += steps * batch;
        if (steps > 0) result.push_back({batch, steps});
    }
    return result;
}

CheckpointCosts checkpoint_costs(const Plan& plan, const StorageFigures& storage) {
    const Job& job = plan.job;
    const double ranks = job.layout.ranks_of_stage();
    CheckpointCosts costs;
    for (const Stage& stage : plan.stages) {
        const double different =  // trained parameters that the stage's ranks hold between them
            stage.trained_dense * (ranks / job.layout.copies()) +
            stage.trained_expert * (ranks / job.layout.expert_data());
        const double updated = updated_parameters(job, stage);
        const Bytes states = optimizer_states(job, stage), rank = stage.memory.parameters + states;
        costs.written += Bytes{different * job.framework->passing(job).parameters} +
                         states * (updated > 0.0 ? different / updated : 0.0);
        costs.read += rank * ranks;
        costs.rank = std::max(costs.rank, rank);
    }
    const double nics = plan.machine.nics_per_node;
    const Bytes node = costs.rank * static_cast<double>(job.ranks_per_node);
    const auto through = [&](Bytes all, BytesPerSecond file_system) {
        const Seconds stored = all / file_system;
        return nics > 0 ? std::max(stored, node / (plan.machine.nic * nics)) : stored;
    };
    costs.write = through(costs.written, storage.write);
    costs.load = through(costs.read, storage.read);
    return costs;
}

RunStretch run_stretch(const Report& step, std::uint32_t batch, std::uint64_t steps) {
    return {.batch = batch,
            .steps = steps,
            .time = {step.metric("step.time_s")},
            .compute = {step.metric("step.compute_s")},
            .exposed = {step.metric("step.exposed_communication_s")}};
}

double RunPlan::tokens(std::uint64_t steps) const {
    double sum = 0;
    for (const RunStretch& stretch : stretches) {
        const std::uint64_t here = std::min(steps, stretch.steps);
        sum += static_cast<double>(here) * stretch.batch * sequence;
        steps -= here;
    }
    return sum;
}

Joules RunPlan::energy(const RunSample& sample) const {
    return power->working * sample.worked + power->waiting * (sample.wall - sample.worked);
}

RunPlan plan_run(const Plan& plan, std::vector<RunStretch> stretches, const RunTerms& terms) {
    RunPlan result{.stretches = std::move(stretches),
                   .sequence = static_cast<double>(plan.job.batch.sequence),
                   .slowdown = plan.device.slowdown};
    RunFigures figures = run_figures(plan, terms);
    LongRun& run = result.run = figures.run;
    result.between_failures = either(run.hardware, run.software);

    const bool waits = terms.saving == Saving::synchronous;
    result.checkpoint = checkpoint_costs(plan, figures.storage);
    run.load = result.checkpoint.load;
    const Seconds copy = waits ? Seconds{} : result.checkpoint.rank / figures.host_link;
    run.stall = waits ? result.checkpoint.write : copy;
    run.write = copy + result.checkpoint.write;

    set_length(result, terms);
    const Seconds best = std::max(daly_interval(run.stall, result.between_failures), run.write);
    const Seconds interval = terms.interval.value_or(best);
    for (const RunStretch& each : result.stretches) {
        constexpr double most = 1e18;
        const auto rounded = static_cast<std::uint64_t>(std::clamp(std::round(interval / each.time), 1.0, most));
        const std::uint64_t between = terms.between.value_or(rounded);
        run.stretches.push_back({.steps = each.steps, .step = each.time, .between = between});
        result.interval = each.time * static_cast<double>(between);
    }
    const Seconds restart = run.detection + run.launch + run.load, m = result.between_failures;
    constexpr double hopeless = 100;  // times as long as its work
    if (m != endless &&
        daly_run_time(result.interval, result.interval, run.stall, restart, m) > hopeless * result.interval) {
        throw RangeError(
            "failures come every {:.3g} min, a restart takes {:.3g} min and work is saved every "
            "{:.3g} min: the run gets nowhere",
            m.value / 60, restart.value / 60, result.interval.value / 60);
    }
    result.power = power_of(plan, result.stretches, run, figures);
    result.storage_share = figures.storage_share;
    result.origins = std::move(figures.origins);
    if (terms.interval || terms.between) result.origins.emplace_back("interval", RunFigures::Origin::asked);
    result.assumptions = std::move(figures.assumptions);
    return result;
}

}  // namespace weft
