// Whole steps, from job file to report: folded on whole machines, with every rank simulated on small ones, and how time
// grows with each dimension of a job (bench/slopes reads the JSON). First the folded program is proven equal to one
// that simulates every rank, on a machine where placement is symmetric.
//
// --large adds what takes more than seconds.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "bench/peak_memory.hpp"
#include "bench/proof.hpp"
#include "sim/base/keep_memory.hpp"
#include "workloads/report/report.hpp"

namespace weft {
namespace {

// A job on nodes of eight H100. Every replica has the same micro-batches, however many replicas there are.
struct Shape {
    std::uint32_t stages = 4, layers_per_stage = 2, data = 2, micro_batches = 16;
    std::uint32_t ranks() const { return 8 * stages * data; }
};

Study study_of(const Shape& shape) {
    return read_study(Document::parse("growth.json", fmt::format(R"({{
        "machine": "spectrum-x-h100",
        "model": {{"layers": {}, "hidden": 1024, "heads": 16, "vocabulary": 50257}},
        "framework": "megatron",
        "layout": {{"tensor": 8, "pipeline": {}, "data": {}}},
        "batch": {{"sequence": 1024, "micro": 1, "global": {}}},
        "zero": 1
    }})",
                                                                 shape.stages * shape.layers_per_stage, shape.stages,
                                                                 shape.data, shape.micro_batches * shape.data)));
}

// GPT-NeoX 20B as the study runs it: tensor groups of eight, ZeRO-3, 32 micro-batches per replica.
Study neox_on(std::string_view machine, std::uint32_t data) {
    return read_study(Document::parse("neox.json", fmt::format(R"({{
        "machine": "{}",
        "model": "gpt-neox-20b",
        "framework": "deepspeed",
        "layout": {{"tensor": 8, "data": {}}},
        "batch": {{"sequence": 2048, "micro": 1, "global": {}}},
        "zero": 3
    }})",
                                                               machine, data, 32 * data)));
}
Study neox_of(std::uint32_t data) { return neox_on("spectrum-x-h100", data); }
Study neox_on_frontier(std::uint32_t data) { return neox_on("frontier", data); }

// GPT-3 175B on four stages that lie far apart: the pipeline is outermost. 32 micro-batches per replica.
Study gpt3_of(std::uint32_t data) {
    return read_study(Document::parse("gpt3.json", fmt::format(R"({{
        "machine": "spectrum-x-h100",
        "model": "gpt3-175b",
        "framework": "megatron",
        "layout": {{"tensor": 8, "pipeline": 4, "data": {}}},
        "batch": {{"sequence": 2048, "micro": 1, "global": {}}},
        "zero": 1,
        "recompute": "full"
    }})",
                                                               data, 32 * data)));
}

Study shipped(const std::string& job) { return load_study(std::string(WEFT_SOURCE_DIR "/") + job); }

bool folding_proven() {
    const Study study = study_of({.stages = 2, .data = 4, .micro_batches = 8});
    const Plan plan = make_plan(study);
    const double folded = since_start(simulate_step(study, plan).timeline.end).value;
    const double unfolded = since_start(simulate_step(study, plan, {.folding = Folding::none}).timeline.end).value;
    return std::abs(folded - unfolded) <= 1e-9 * unfolded;
}

// `read` makes the study: reading the job and its machine is part of what a user waits for.
template <class Read>
void time_step(benchmark::State& state, Read read, const SimulationOptions& options = {}) {
    Report report;
    bench::forget_peak_memory();
    for (auto _ : state) {
        const Study study = read();
        report = make_report(simulate_step(study, make_plan(study), options));
        benchmark::DoNotOptimize(report.metric("step.time_s"));
    }
    const auto events = static_cast<double>(report.events);
    state.counters["ranks"] = report.ranks;
    state.counters["classes"] = static_cast<double>(report.classes);
    state.counters["events"] = events;
    state.counters["events/s"] = benchmark::Counter(events, benchmark::Counter::kIsIterationInvariantRate);
    state.counters["peak_MiB"] = bench::peak_mebibytes();
}

void folded(benchmark::State& state, const std::string& job) {
    time_step(state, [&] { return shipped(job); });
}

void unfolded(benchmark::State& state) {
    const Shape shape{.data = static_cast<std::uint32_t>(state.range(0)) / 32, .micro_batches = 8};
    time_step(state, [&] { return study_of(shape); }, {.folding = Folding::none});
}

// One dimension of the shape, the others as they are.
template <std::uint32_t Shape::*dimension>
void growth(benchmark::State& state) {
    Shape shape;
    shape.*dimension = static_cast<std::uint32_t>(state.range(0));
    time_step(state, [&] { return study_of(shape); });
}

template <Study (*study_of_width)(std::uint32_t)>
void growth_of(benchmark::State& state) {
    time_step(state, [&] { return study_of_width(static_cast<std::uint32_t>(state.range(0))); });
}

void add_small() {
    using benchmark::RegisterBenchmark;
    const auto ms = benchmark::kMillisecond;
    RegisterBenchmark("folded/gpt_neox_20b_128", folded, "workloads/jobs/frontier-gpt-neox-20b-3d.json")->Unit(ms);
    RegisterBenchmark("folded/spectrum_x_1k", [](benchmark::State& state) {
        time_step(state, [] { return study_of({.data = 32}); });
    })->Unit(ms);
    RegisterBenchmark("folded/spectrum_x_8k", [](benchmark::State& state) {
        time_step(state, [] { return study_of({.data = 256}); });
    })->Unit(ms);
    RegisterBenchmark("folded/gpt_1t_3072", folded, "workloads/jobs/frontier-gpt-1t-3d.json")->Unit(ms);
    RegisterBenchmark("unfolded", unfolded)->Unit(ms)->Arg(64)->Arg(128);
    RegisterBenchmark("growth/micro_batches", growth<&Shape::micro_batches>)
        ->Unit(ms)
        ->RangeMultiplier(4)
        ->Range(16, 1024);
    RegisterBenchmark("growth/layers_per_stage", growth<&Shape::layers_per_stage>)
        ->Unit(ms)
        ->RangeMultiplier(2)
        ->Range(2, 32);
    RegisterBenchmark("growth/stages", growth<&Shape::stages>)->Unit(ms)->RangeMultiplier(2)->Range(4, 64);
    const auto widths = [](benchmark::internal::Benchmark* each) {
        each->Unit(benchmark::kMillisecond)->RangeMultiplier(4)->Range(2, 2048)->Arg(4096);
    };
    RegisterBenchmark("growth/data", growth<&Shape::data>)->Apply(widths);
    RegisterBenchmark("growth/data_of_neox_20b", growth_of<neox_of>)->Apply(widths);
    RegisterBenchmark("growth/data_of_neox_20b_on_frontier", growth_of<neox_on_frontier>)->Apply(widths);
    RegisterBenchmark("growth/data_of_gpt3_175b", growth_of<gpt3_of>)->Apply(widths);
}

void add_large() {
    using benchmark::RegisterBenchmark;
    const auto once = [](benchmark::internal::Benchmark* each) { each->Unit(benchmark::kMillisecond)->Iterations(1); };
    RegisterBenchmark("folded/gpt_1t_75264", folded, "bench/jobs/frontier-gpt-1t-whole.json")->Apply(once);
    RegisterBenchmark("folded/gpt_1t_131072", folded, "bench/jobs/spectrum-x-gpt-1t.json")->Apply(once);
    RegisterBenchmark("folded/moe_10t_131072", folded, "bench/jobs/spectrum-x-moe-10t.json")->Apply(once);
    RegisterBenchmark("unfolded", unfolded)->Apply(once)->Arg(256)->Arg(512)->Arg(1024)->Arg(4096);
}

// Whether `flag` is among the arguments, which then lose it.
bool take_flag(int& argc, char** argv, const char* flag) {
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], flag) != 0) continue;
        for (--argc; i < argc; ++i) argv[i] = argv[i + 1];
        argv[argc] = nullptr;
        return true;
    }
    return false;
}

}  // namespace
}  // namespace weft

int main(int argc, char** argv) {
    weft::keep_memory();  // as the program does
    weft::add_small();
    if (weft::take_flag(argc, argv, "--large")) weft::add_large();
    return weft::bench::prove_then_time(argc, argv, weft::folding_proven);
}
