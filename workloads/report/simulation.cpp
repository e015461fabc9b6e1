#include "workloads/report/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/engine/ticks.hpp"
#include "sim/engine/unfold.hpp"
#include "sim/io/units.hpp"
#include "workloads/plan/needed_calls.hpp"

namespace weft {
namespace {

// What the busiest stage computes: no step takes less. (All micro-batches pass a chunk; of several copies of the model,
// an equal share each.)
Seconds least_compute(const Plan& plan) {
    Seconds busiest;
    for (const Stage& stage : plan.stages) {
        Seconds micro_batch;
        for (const Chunk& chunk : stage.chunks) {
            for (std::uint32_t layer = 0; layer < chunk.layers; ++layer) {
                for (const PieceCost& piece :
                     plan.costs.layers[plan.job.layer_place(chunk.first_layer + layer)].pieces) {
                    micro_batch += piece.forward + piece.input_backward + piece.weight_backward;
                }
            }
        }
        busiest = std::max(busiest, micro_batch);
    }
    return busiest * (static_cast<double>(plan.job.micro_batches()) / plan.job.schedule->copies);
}

// Refused before it is simulated, not after.
void check_length(const Plan& plan) {
    constexpr Seconds longest{end_of_clock / Instant::ticks_per_second};
    const Seconds least = least_compute(plan);
    if (least < longest) return;
    const double share = 0.5 * (longest / least);  // the rest of a step takes some of it
    const std::uint32_t together = plan.job.batch.global / plan.job.micro_batches();
    const double batch = std::max(1.0, std::floor(plan.job.micro_batches() * share)) * together;
    throw RangeError(
        fmt::format("a step computes for {} at least, and a simulation ends after {:.0f} s; micro-batches "
                    "follow one another alike, so simulate fewer, as with batch.global={:.0f}",
                    to_text(least), longest.value, batch));
}

// What becomes of the costs of groups once the step is built.
enum class Costs : std::uint8_t { kept, forgotten };

template <class Build>
Simulation simulated(Plan plan, const SimulationOptions& options, std::unique_ptr<PreparedTopology> prepared,
                     Build build, Costs costs) {
    check_calls(plan);
    check_length(plan);
    Simulation run{.options = options,
                   .plan = std::move(plan),
                   .prepared = std::move(prepared),
                   .step = {},
                   .timeline = {},
                   .moved = {}};
    const auto on_size = [&options](StepSize size) {
        size.is_written_out = options.kept == Kept::ops;
        options.on_size(size);
    };
    run.step = build(run.plan, run.prepared->costs(run.plan),
                     {options.folding, options.on_size ? SizeListener(on_size) : SizeListener()});
    if (costs == Costs::forgotten) run.prepared->forget();
    run.timeline = simulate(run.step.program, run.topology(), options.network, options.recording, options.on_progress);
    if (options.slices > 0) {
        run.moved = moved_in_slices(run.step.program, run.topology(), options.network, run.timeline.end, options.slices,
                                    options.on_progress);
    }
    if (options.kept == Kept::ops && !run.step.program.routines.empty()) {
        run.timeline = unfold(run.step.program, std::move(run.timeline));
        run.step.program = unfold(run.step.program);
    }
    return run;
}

}  // namespace

LinkTraffic link_traffic(const Simulation& run) {
    return link_traffic(run.topology(), run.step.program.patterns, run.timeline.moved, run.step.alike,
                        since_start(run.timeline.end));
}

LinkTraffic slice_traffic(const Simulation& run, std::uint32_t i) {
    return link_traffic(run.topology(), run.step.program.patterns, run.moved[i], run.step.alike,
                        since_start(run.timeline.end) / run.options.slices);
}

Simulation simulate_step(const Study& study, Plan plan, const SimulationOptions& options) {
    return simulated(std::move(plan), options, prepare(study), build_step, Costs::forgotten);
}

Simulation simulate_step(Plan plan, const SimulationOptions& options, std::unique_ptr<PreparedTopology> prepared) {
    return simulated(std::move(plan), options, std::move(prepared), build_step, Costs::kept);
}

Simulation simulate_start_up(const Study& study, Plan plan, const SimulationOptions& options) {
    return simulated(std::move(plan), options, prepare(study), build_start_up, Costs::forgotten);
}

}  // namespace weft
