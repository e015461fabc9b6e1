// Whole steps of shipped jobs, from job file to report. First the folded program is proven equal to one that simulates
// every rank, on a machine where placement is symmetric.
#include <benchmark/benchmark.h>

#include <cmath>
#include <string>

#include "bench/proof.hpp"
#include "workloads/report/report.hpp"

namespace weft {
namespace {

Study symmetric_study() {
    return read_study(Document::parse("symmetric.json", R"({
        "machine": "dgx-a100",
        "model": {"layers": 8, "hidden": 1024, "heads": 16, "vocabulary": 50257},
        "layout": {"tensor": 8, "pipeline": 2, "data": 4},
        "batch": {"sequence": 1024, "micro": 1, "global": 32},
        "zero": 1
    })"));
}

}  // namespace

static bool folding_proven() {
    const Study study = symmetric_study();
    const Plan plan = make_plan(study);
    const double folded = since_start(simulate_step(study, plan).timeline.end).value;
    const double unfolded = since_start(simulate_step(study, plan, {.folding = Folding::none}).timeline.end).value;
    return std::abs(folded - unfolded) <= 1e-9 * unfolded;
}

namespace {

void step(benchmark::State& state, const std::string& job) {
    double events = 0, ranks = 0;
    for (auto _ : state) {
        const Study study = load_study(std::string(WEFT_SOURCE_DIR "/workloads/jobs/") + job);
        const Report report = make_report(simulate_step(study, make_plan(study)));
        benchmark::DoNotOptimize(report.metric("step.time_s"));
        events = static_cast<double>(report.events);
        ranks = report.ranks;
    }
    state.counters["ranks"] = ranks;
    state.counters["events"] = events;
    state.counters["events/s"] = benchmark::Counter(events, benchmark::Counter::kIsIterationInvariantRate);
}

BENCHMARK_CAPTURE(step, gpt_neox_20b_128_ranks, "frontier-gpt-neox-20b-3d.json")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(step, gpt_1t_3072_ranks, "frontier-gpt-1t-3d.json")->Unit(benchmark::kMillisecond);

void unfolded_step(benchmark::State& state) {
    const Study study = symmetric_study();
    const Plan plan = make_plan(study);
    for (auto _ : state) {
        benchmark::DoNotOptimize(simulate_step(study, plan, {.folding = Folding::none}).timeline.end);
    }
    state.counters["ranks"] = 64;
}

BENCHMARK(unfolded_step)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace weft

int main(int argc, char** argv) { return weft::bench::prove_then_time(argc, argv, weft::folding_proven); }
