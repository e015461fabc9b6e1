// Building and running a long program: classes that compute and then meet, round after round, on a link of their own
// or on one that all share. Oracle: the closed form of its length. And passes that are routines, against the same
// program written out.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "bench/proof.hpp"
#include "sim/engine/engine.hpp"
#include "sim/program/program_builder.hpp"
#include "tests/sim/network/toy.hpp"

namespace {

using namespace weft;

constexpr std::uint32_t classes = 16;
constexpr double work_seconds = 1e-6, bytes = 5e3, bandwidth = 1e9;

Topology fabric() { return toy::fabric(std::vector<double>(classes + 1, bandwidth)); }

// `ops` ops in all. Neighbours 2i and 2i + 1 exchange on link i and, all at once, on the link that everyone shares.
Program long_program(std::int64_t ops) {
    ProgramBuilder builder({"compute", "network"});
    const auto rounds = static_cast<std::uint32_t>(ops / classes / 2);
    std::vector<CommunicationId> meet;
    for (std::uint32_t pair = 0; pair < classes / 2; ++pair) {
        const PatternId pattern = builder.pattern(toy::path({pair, classes}));
        const std::vector<Leg> legs{{pattern, {}, {bytes}}};
        meet.push_back(builder.communication({.dimension = LaneId{1}, .group_size = 2}, legs));
    }
    std::vector<std::vector<ExchangeId>> exchanges(classes / 2);
    for (std::uint32_t pair = 0; pair < classes / 2; ++pair) {
        for (std::uint32_t r = 0; r < rounds; ++r) exchanges[pair].push_back(builder.exchange(meet[pair], 2));
    }
    for (std::uint32_t c = 0; c < classes; ++c) {
        builder.begin_class("class", RankId{c}, 1);
        OpId last{};
        for (std::uint32_t r = 0; r < rounds; ++r) {
            const Op work{OpKind::compute, LaneId{0}, builder.label("work"), builder.work({work_seconds}), r};
            const OpId worked = r == 0 ? builder.add(work, {}) : builder.add(work, {last});
            const auto subject = static_cast<std::uint32_t>(exchanges[c / 2][r]);
            last = builder.add({OpKind::exchange, LaneId{1}, builder.label("meet"), subject, r}, {worked});
        }
    }
    return builder.finish();
}

// Every round: the work, then classes / 2 flows that share one link. Nobody computes beside its own communication.
bool lengths_are_equal(double interference) {
    constexpr std::int64_t ops = 32'000;
    const double expected = static_cast<double>(ops / classes / 2) * (work_seconds + classes / 2 * bytes / bandwidth);
    Program program = long_program(ops);
    program.interference = interference;
    const Timeline timeline = simulate(program, fabric(), NetworkKind::flow);
    return std::abs(since_start(timeline.end).value - expected) <= 1e-9 * expected;
}

void build(benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(long_program(state.range(0)));
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(build)->RangeMultiplier(32)->Range(2'048, 2'097'152)->Unit(benchmark::kMillisecond);

void run(benchmark::State& state) {
    const Program program = long_program(state.range(0));
    const Topology topology = fabric();
    for (auto _ : state) benchmark::DoNotOptimize(simulate(program, topology, NetworkKind::flow));
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(run)->RangeMultiplier(32)->Range(2'048, 2'097'152)->Unit(benchmark::kMillisecond);

// The same where communication may slow computation: what keeping count of it costs.
void run_contended(benchmark::State& state) {
    Program program = long_program(state.range(0));
    program.interference = 1.2;
    const Topology topology = fabric();
    for (auto _ : state) benchmark::DoNotOptimize(simulate(program, topology, NetworkKind::flow));
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(run_contended)->Arg(32'768)->Unit(benchmark::kMillisecond);

constexpr std::uint32_t pass_ops = 64;

// `ops` ops in all: two stages hand over micro-batches; a pass works and calls its own group in turn, 64 ops.
Program passes(std::int64_t ops) {
    ProgramBuilder builder({"compute", "calls", "hand over"}, 1.2);
    const auto micro_batches = static_cast<std::uint32_t>(ops / 2 / pass_ops);
    const auto communication = [&](LaneId lane, std::uint32_t link) {
        const std::vector<Leg> legs{{builder.pattern(toy::path({link})), {1e-6}, {bytes}}};
        return builder.communication({.dimension = lane, .group_size = 2}, legs);
    };
    std::vector<ExchangeId> handed;
    const CommunicationId hand = communication(LaneId{2}, 2);
    for (std::uint32_t m = 0; m < micro_batches; ++m) handed.push_back(builder.exchange(hand, 2));
    for (std::uint32_t stage = 0; stage < 2; ++stage) {
        builder.begin_class("stage", RankId{stage}, 1);
        const Op work{OpKind::compute, LaneId{0}, builder.label("work"), builder.work({work_seconds})};
        const CommunicationId call = communication(LaneId{1}, stage);
        std::vector<ProgramBuilder::RoutineUnit> units;
        while (units.size() < pass_ops) {
            units.push_back({work, {}});
            const auto own = static_cast<std::uint32_t>(builder.exchange(call, 1));
            units.push_back({{OpKind::exchange, LaneId{1}, builder.label("call"), own}, {}});
        }
        const auto pass = static_cast<std::uint32_t>(builder.routine(units));
        for (std::uint32_t m = 0; m < micro_batches; ++m) {
            const Op hand_over{OpKind::exchange, LaneId{2}, builder.label("hand over"),
                               static_cast<std::uint32_t>(handed[m]), m};
            std::vector<OpId> after;
            if (stage == 1) after.push_back(builder.add(hand_over, {}));
            after = {builder.add({OpKind::routine, LaneId{0}, builder.label("pass"), pass, m}, after)};
            if (stage == 0) builder.add(hand_over, after);
        }
    }
    return builder.finish();
}

bool routines_run_as_written_out() {
    const Program program = passes(32'768);
    const Timeline timeline = unfold(program, simulate(program, fabric(), NetworkKind::flow));
    const Timeline written_out = simulate(unfold(program), fabric(), NetworkKind::flow);
    return std::ranges::equal(timeline.spans, written_out.spans, [](const Span& a, const Span& b) {
        return a.posted == b.posted && a.begin == b.begin && a.end == b.end;
    });
}

void run_passes(benchmark::State& state, const Program& program) {
    const Topology topology = fabric();
    for (auto _ : state) benchmark::DoNotOptimize(simulate(program, topology, NetworkKind::flow));
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
void run_routines(benchmark::State& state) { run_passes(state, passes(state.range(0))); }
void run_written_out(benchmark::State& state) { run_passes(state, unfold(passes(state.range(0)))); }
BENCHMARK(run_routines)->RangeMultiplier(32)->Range(32'768, 1'048'576)->Unit(benchmark::kMillisecond);
BENCHMARK(run_written_out)->RangeMultiplier(32)->Range(32'768, 1'048'576)->Unit(benchmark::kMillisecond);

}  // namespace

int main(int argc, char** argv) {
    return weft::bench::prove_then_time(
        argc, argv, [] { return lengths_are_equal(1.0) && lengths_are_equal(1.2) && routines_run_as_written_out(); });
}
