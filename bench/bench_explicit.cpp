// Pairwise all-to-alls message by message: n (n - 1) flows of 64 KiB. Twin: a program with an exchange per message, run
// by the engine, on members that do not keep step.
#include <sys/resource.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "bench/proof.hpp"
#include "tests/sim/collective/members.hpp"
#include "tests/sim/collective/toy_crossbar.hpp"
#include "tests/sim/engine/explicit_twin.hpp"
#include "tests/sim/explicit/explicit_run.hpp"
#include "topologies/machine.hpp"

namespace {

using namespace weft;

const Library library{.name = "plain"};
const ProtocolCost protocol{.step_in_node = 1_us, .step_across = 2_us};
const ProtocolCost bare{};

ExplicitRun all_to_all(const Topology& topology) {
    const std::uint32_t n = topology.ranks;
    return run_explicitly(*find_algorithm(Collective::all_to_all, "pairwise"),
                          {.members = n, .nodes = n / topology.ranks_per_node}, {{testing_support::first_ranks(n)}},
                          64_KiB * n, Waits::sends, topology, library, protocol);
}

bool times_are_equal() {
    for (const char* const machine : {"frontier", "dgx-a100"}) {
        Topology topology = Machine::load(machine).topology(4);
        topology.routing = Routing::minimal;  // the twin takes no detours
        const std::uint32_t n = topology.ranks;
        const Seconds twin =
            testing_support::twin_time(*find_algorithm(Collective::all_to_all, "pairwise"), {.members = n, .nodes = 4},
                                       testing_support::first_ranks(n), 64_KiB * n, Waits::sends, topology, protocol);
        if (std::abs(all_to_all(topology).time / twin - 1.0) > 1e-9) return false;
    }
    return true;
}

void report(benchmark::State& state, const ExplicitRun& run) {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    state.counters["flows"] = static_cast<double>(run.messages);
    state.counters["solves"] = static_cast<double>(run.solves);
    state.counters["simulated_ms"] = run.time.value * 1e3;
    state.counters["peak_MiB"] = static_cast<double>(usage.ru_maxrss) / 1024.0;
}

void on_a_crossbar(benchmark::State& state) {
    const Topology topology =
        testing_support::toy_crossbar(static_cast<std::uint32_t>(state.range(0)), 8, 50_GBps, 500_ns);
    ExplicitRun run;
    for (auto _ : state) run = all_to_all(topology);
    report(state, run);
}
BENCHMARK(on_a_crossbar)->Arg(64)->Arg(256)->Arg(1024)->Unit(benchmark::kMillisecond)->Iterations(1);

// Rings of 2 (n - 1) rounds of n messages.
void ring_on_a_crossbar(benchmark::State& state) {
    const auto n = static_cast<std::uint32_t>(state.range(0));
    const Topology topology = testing_support::toy_crossbar(n, 1, 50_GBps, 500_ns);
    ExplicitRun run;
    for (auto _ : state) {
        run = run_explicitly(*find_algorithm(Collective::all_reduce, "ring"), {.members = n, .nodes = n},
                             {{testing_support::first_ranks(n)}}, 1_GiB, Waits::sends_and_receives, topology, library,
                             bare);
    }
    report(state, run);
    state.SetItemsProcessed(static_cast<std::int64_t>(run.messages) * state.iterations());
}
BENCHMARK(ring_on_a_crossbar)->RangeMultiplier(4)->Range(64, 4096)->Unit(benchmark::kMillisecond);

void on_frontier_nodes(benchmark::State& state, Routing routing) {
    Topology topology = Machine::load("frontier").topology(static_cast<std::uint32_t>(state.range(0)));
    topology.routing = routing;
    ExplicitRun run;
    for (auto _ : state) run = all_to_all(topology);
    report(state, run);
}
BENCHMARK_CAPTURE(on_frontier_nodes, minimal, Routing::minimal)
    ->Arg(8)
    ->Arg(32)
    ->Arg(128)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);
BENCHMARK_CAPTURE(on_frontier_nodes, adaptive, Routing::adaptive)
    ->Arg(8)
    ->Arg(32)
    ->Arg(128)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

}  // namespace

int main(int argc, char** argv) { return weft::bench::prove_then_time(argc, argv, times_are_equal); }
