// One simulated step and all that it was made from.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sim/base/instant.hpp"
#include "sim/engine/engine.hpp"
#include "sim/network/link_traffic.hpp"
#include "workloads/groups/prepared_topology.hpp"
#include "workloads/job/job.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/step/step_builder.hpp"

namespace weft {

// What is kept of single ops.
enum class Kept : std::uint8_t {
    sums,  // what a Report needs: programs and timelines may have routines
    ops,   // everything, each by itself
};

struct SimulationOptions {
    NetworkKind network = NetworkKind::flow;
    Folding folding = Folding::stages;  // what many simulations can afford; `weft simulate` asks for more
    Recording recording = Recording::spans;
    Kept kept = Kept::ops;
    std::uint32_t slices = 0;    // of the step, of whose links the traffic is kept apart; 0: none
    SizeListener on_size{};      // hears how large the step will be
    FlowListener on_progress{};  // and how far it has come
};

struct Simulation {
    SimulationOptions options;
    Plan plan;
    std::unique_ptr<PreparedTopology> prepared;  // to be moved on to the next simulation
    Step step{};
    Timeline timeline{};
    std::vector<Table<PatternId, Bytes>> moved{};  // on each pattern, in each of options.slices

    const Topology& topology() const { return prepared->topology(); }
};

// What links carried in the whole step; in slice `i` of options.slices.
LinkTraffic link_traffic(const Simulation& run);
LinkTraffic slice_traffic(const Simulation& run, std::uint32_t i);

// Does not ask whether the plan fits in memory; Plan::fits() tells.
Simulation simulate_step(const Study& study, Plan plan, const SimulationOptions& options = {});

// The same on the topology of the plan's nodes and fabric, which comes back in the result: many simulations on the
// same part of a machine need it built, and what it takes to route their groups worked out, once.
Simulation simulate_step(Plan plan, const SimulationOptions& options, std::unique_ptr<PreparedTopology> prepared);

// How long steps take as flows of other jobs meet them at random: on average, and what half, 95 and 99 % of them take
// at most.
struct CongestedSteps {
    Seconds mean, p50, p95, p99;
};

// As Fabric::quantile has it, on the network and by the folding of the options. Nothing where others send nothing, or
// where the job asks for one quantile.
std::optional<CongestedSteps> congested_steps(const Study& study, const Plan& plan, const SimulationOptions& options);

// What the framework sends before the first step, in place of a step.
Simulation simulate_start_up(const Study& study, Plan plan, const SimulationOptions& options = {});

// Device memory of a rank class over the step: what stays, plus the activations of the micro-batches under way.
struct MemoryPoint {
    Instant at;
    Bytes in_use;  // from here on
};

// Activations of a micro-batch live from the start of its first forward operation to the end of its last backward one.
std::vector<MemoryPoint> memory_timeline(const Simulation& simulation, RankClassId rank_class);

}  // namespace weft
