#include "workloads/report/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/engine/timeline.hpp"
#include "sim/io/units.hpp"
#include "workloads/parallelism/experts.hpp"
#include "workloads/plan/stage_memory.hpp"

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
                const LayerCosts& own = plan.costs.layers[plan.job.layer_place(chunk.first_layer + layer)];
                micro_batch += own.forward_time() + own.backward_time();
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
        "a step computes for {} at least, and a simulation ends after {:.0f} s; micro-batches "
        "follow one another alike, so simulate fewer, as with batch.global={:.0f}",
        to_text(least), longest.value, batch);
}

// What becomes of the costs of groups once the step is built.
enum class Costs : std::uint8_t { kept, forgotten };

template <class Build>
Simulation simulated(Plan plan, const SimulationOptions& options, std::unique_ptr<PreparedTopology> prepared,
                     Build build, Costs costs) {
    check_calls(plan);
    check_length(plan);
    WEFT_CHECK(prepared->topology().ranks_per_node == plan.job.ranks_per_node, "a topology of other nodes");
    Simulation run{.options = options, .plan = std::move(plan), .prepared = std::move(prepared)};
    const bool is_written_out = options.kept == Kept::ops;
    run.step = build(run.plan, run.prepared->costs(run.plan), {options.folding, options.on_size, is_written_out});
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

// From the first to the last operation that a holding of one micro-batch meets.
struct Life {
    Instant begin = Instant::never(), end{};

    void meet(const Span& span) {
        begin = std::min(begin, span.begin);
        end = std::max(end, span.end);
    }
};

// What is kept of one micro-batch together: between the first and the last operation of the layers [first, end).
struct Holding {
    std::uint32_t first = 0, end = 0;
    Bytes bytes;
    std::vector<Life> lives{};  // by micro-batch
};

// A chunk's activations; where passes are joint layer by layer, as the forward of one micro-batch takes the place of
// the backward of another. What stands after the last layer belongs to the chunk before it.
std::vector<Holding> holdings(const Job& job, const Chunk& chunk) {
    const std::uint32_t last = chunk.first_layer + chunk.layers, end = last + (chunk.has_head() ? 1 : 0);
    Holding whole{chunk.first_layer, end, chunk.activations};
    if (expert_overlap(job) != ExpertOverlap::passes) return {whole};
    std::vector<Holding> all;
    for (std::uint32_t i = 0; i < chunk.layers; ++i) {
        const std::uint32_t layer = chunk.first_layer + i;
        all.push_back({layer, layer + 1, kept_activations(job, chunk, i)});
        whole.bytes -= all.back().bytes;
    }
    all.push_back({last, end, chunk.head_activations});
    whole.bytes -= chunk.head_activations;
    all.push_back(whole);
    return all;
}

// Of each chunk, its holdings and when they live; the last is the chunk's own.
std::vector<std::vector<Holding>> lived(const Simulation& run, RankClassId id) {
    std::vector<std::vector<Holding>> kept;
    for (const Chunk& chunk : run.plan.stages[run.step.stage[id]].chunks) {
        kept.push_back(holdings(run.plan.job, chunk));
        for (Holding& each : kept.back()) each.lives.resize(run.plan.job.micro_batches());
    }
    const auto has = [](const Holding& holding, std::uint32_t layer) {
        return holding.first <= layer && layer < holding.end;
    };
    const Program& program = run.step.program;
    const RankClass& rank_class = program.classes[id];
    for (OpId at{rank_class.first_op}; index(at) < rank_class.end_op(); at = next(at)) {
        const Op& op = program.ops[at];
        if (op.kind != OpKind::compute || program.labels[index(op.label)] == "optimizer") continue;
        auto chunk = std::ranges::find_if(kept, [&](const auto& each) { return has(each.back(), op.part); });
        if (chunk == kept.end()) chunk = kept.begin();  // a part without layers
        for (Holding& own : *chunk) {
            if (&own == &chunk->back() || has(own, op.part)) own.lives[op.index].meet(run.timeline.spans[at]);
        }
    }
    return kept;
}

struct MemoryChange {
    Instant at;
    double bytes;
    auto operator<=>(const MemoryChange&) const = default;
};

// In order of time; at equal instants the end of one comes before the begin of another.
std::vector<MemoryChange> memory_changes(const Simulation& run, RankClassId id) {
    std::vector<MemoryChange> changes;
    for (const std::vector<Holding>& chunk : lived(run, id)) {
        for (const Holding& own : chunk) {
            for (const Life& life : own.lives) {
                if (life.begin == Instant::never()) continue;  // other micro-batches visit this chunk
                changes.push_back({life.begin, own.bytes.value});
                changes.push_back({life.end, -own.bytes.value});
            }
        }
    }
    std::ranges::sort(changes);
    return changes;
}

}  // namespace

LinkTraffic link_traffic(const Simulation& run) {
    return link_traffic(run.topology(), run.step.program.patterns, run.timeline.moved, run.step.equal_links,
                        since_start(run.timeline.end));
}

LinkTraffic slice_traffic(const Simulation& run, std::uint32_t i) {
    return link_traffic(run.topology(), run.step.program.patterns, run.moved[i], run.step.equal_links,
                        since_start(run.timeline.end) / run.options.slices);
}

Simulation simulate_step(const Study& study, Plan plan, const SimulationOptions& options) {
    return simulated(std::move(plan), options, prepare(study), build_step, Costs::forgotten);
}

std::optional<CongestedSteps> congested_steps(const Study& study, const Plan& plan, const SimulationOptions& options) {
    const Fabric& fabric = study.job.fabric;
    if (fabric.quantile || !has_background(fabric)) return std::nullopt;
    const auto step = [&](double quantile) {
        Study met = study;
        met.job.fabric.quantile = quantile;
        const SimulationOptions plain{.network = options.network, .folding = options.folding, .kept = Kept::sums};
        return since_start(simulate_step(met, plan, plain).timeline.end);
    };
    const Seconds p50 = step(0.5), mean = (step(1.0 / 6.0) + p50 + step(5.0 / 6.0)) / 3.0;  // by thirds
    // Calls that begin at other times may share links more luckily, by a thousandth of a step.
    const Seconds p95 = std::max(p50, step(0.95)), p99 = std::max(p95, step(0.99));
    return CongestedSteps{mean, p50, p95, p99};
}

Simulation simulate_step(Plan plan, const SimulationOptions& options, std::unique_ptr<PreparedTopology> prepared) {
    return simulated(std::move(plan), options, std::move(prepared), build_step, Costs::kept);
}

Simulation simulate_start_up(const Study& study, Plan plan, const SimulationOptions& options) {
    return simulated(std::move(plan), options, prepare(study), build_start_up, Costs::forgotten);
}

std::vector<MemoryPoint> memory_timeline(const Simulation& run, RankClassId id) {
    const Stage& stage = run.plan.stages[run.step.stage[id]];
    const Bytes steady = stage.memory.total() - stage.memory.activations - stage.memory.passing;
    std::vector<MemoryPoint> points{{Instant{}, steady}};
    Bytes alive;
    for (const auto& [at, bytes] : memory_changes(run, id)) {
        alive += Bytes{bytes};
        const Bytes in_use = std::min(steady + alive, stage.memory.total());
        if (points.back().at == at) {
            points.back().in_use = in_use;
        } else {
            points.push_back({at, in_use});
        }
    }
    return points;
}

}  // namespace weft
