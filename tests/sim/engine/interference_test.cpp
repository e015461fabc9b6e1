// Computation beside communication: closed forms, and a twin that integrates progress from the spans of a finished run.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "sim/base/check.hpp"
#include "sim/engine/breakdown.hpp"
#include "sim/engine/engine.hpp"
#include "tests/sim/engine/arbitrary_program.hpp"
#include "tests/sim/engine/toy_program.hpp"

namespace weft {
namespace {

using toy::path;
using toy::Script;

Instant at(double seconds) { return Instant{} + Seconds{seconds}; }

Program with(Program program, double interference) {
    program.interference = interference;
    return program;
}

Timeline simulate_flow(const Program& program, const std::vector<double>& bandwidths) {
    return simulate(program, toy::fabric(bandwidths), NetworkKind::flow);
}

// A transfer of t seconds beside work of c: while both run, the work goes at 1/f. It ends at f c if it ends first,
// else at t + (c - t / f) = c + t (1 - 1 / f).
TEST(interference, work_beside_a_longer_transfer_takes_the_factor) {
    Script script;
    script.begin("all");
    const PatternId link = script.builder.pattern(path({0}));
    const OpId work = script.work({2});
    script.take_part(script.exchange({link, {}, {50}}));
    const Timeline timeline = simulate_flow(with(script.finish(), 1.25), {10});
    EXPECT_EQ(timeline.spans[work].end, at(2.5));
    EXPECT_EQ(timeline.end, at(5));
}

TEST(interference, work_beside_a_shorter_transfer_loses_only_while_both_run) {
    Script script;
    script.begin("all");
    const PatternId link = script.builder.pattern(path({0}));
    const OpId work = script.work({10});
    script.take_part(script.exchange({link, {}, {50}}));
    const Timeline timeline = simulate_flow(with(script.finish(), 1.25), {10});
    EXPECT_EQ(timeline.spans[work].end, at(10 + 5 * (1 - 1 / 1.25)));
}

TEST(interference, transfers_one_after_another_and_at_once_slow_alike) {
    Script script;
    script.begin("all");
    const PatternId first = script.builder.pattern(path({0})), second = script.builder.pattern(path({1}));
    const OpId work = script.work({10});
    script.take_part(script.exchange({first, {}, {10}}));                        // 0 to 1
    script.take_part(script.exchange({first, {}, {20}}));                        // 1 to 3
    script.take_part(script.exchange({second, {2}, {20}}), {}, toy::data_lane);  // 0 to 4, the latency included
    const Timeline timeline = simulate_flow(with(script.finish(), 2.0), {10, 10});
    EXPECT_EQ(timeline.spans[work].end, at(12)) << "4 seconds at half speed";
}

TEST(interference, waiting_for_a_partner_slows_nobody) {
    Script script;
    const PatternId link = script.builder.pattern(path({0}));
    const ExchangeId meet = script.exchange({link, {}, {10}}, 2);
    script.begin("early");
    const OpId beside = script.work({6});
    script.take_part(meet);
    script.begin("late");
    const OpId before = script.work({4});
    script.take_part(meet, {before});
    const Timeline timeline = simulate_flow(with(script.finish(), 2.0), {10});
    EXPECT_EQ(timeline.spans[before].end, at(4)) << "its rank only computes";
    EXPECT_EQ(timeline.spans[beside].end, at(6.5)) << "the transfer runs from 4 to 5";
}

TEST(interference, other_ranks_do_not_slow_down) {
    Script script;
    const PatternId link = script.builder.pattern(path({0}));
    script.begin("talks");
    script.take_part(script.exchange({link, {}, {100}}));
    script.begin("computes");
    const OpId work = script.work({3});
    EXPECT_EQ(simulate_flow(with(script.finish(), 2.0), {10}).spans[work].end, at(3));
}

TEST(interference, work_beside_the_device_does_not_slow_down) {
    Script script;
    script.begin("all");
    const PatternId link = script.builder.pattern(path({0}));
    script.take_part(script.exchange({link, {}, {100}}));
    const OpId host = script.work({3}, {}, toy::data_lane), device = script.work({3});
    const Timeline timeline = simulate_flow(with(script.finish(), 2.0), {10});
    EXPECT_EQ(timeline.spans[host].end, at(3));
    EXPECT_EQ(timeline.spans[device].end, at(6));
}

TEST(interference, what_takes_no_time_leaves_no_trace) {
    Script script;
    const PatternId link = script.builder.pattern(path({0}));
    script.begin("all");
    const OpId work = script.work({1});
    for (int i = 0; i < 100; ++i) script.take_part(script.exchange({link, {}, {}}));
    const Program program = with(script.finish(), 1.1);
    EXPECT_EQ(simulate_flow(program, {10}).spans[work].end, at(1));
    EXPECT_EQ(simulate(program, toy::fabric({10}), NetworkKind::free).spans[work].end, at(1));
}

// One class computes for `work` while transfers of `transfer` with pauses of `pause` between come and go: another class
// keeps the beat, and rests while it transfers.
Timeline beside_a_beat(Seconds work, Seconds transfer, Seconds pause, std::uint32_t beats, double factor) {
    Script script;
    const PatternId link = script.builder.pattern(path({0}));
    std::vector<ExchangeId> meet;
    for (std::uint32_t i = 0; i < beats; ++i) meet.push_back(script.exchange({link, transfer, {}}, 2));
    script.begin("works");
    script.work(work);
    for (const ExchangeId each : meet) script.take_part(each);
    script.begin("keeps the beat");
    for (const ExchangeId each : meet) script.take_part(each, {script.work(pause)}, toy::compute_lane);
    return simulate_flow(with(script.finish(), factor), {10});
}

// Were the work rounded whenever a transfer comes or goes, 2,000 times half a tick would go astray.
TEST(interference, nothing_is_lost_to_rounding) {
    const Timeline timeline = beside_a_beat({1e-9}, {3e-15}, {4e-15}, 1000, 1.3);
    EXPECT_EQ(timeline.spans[OpId{0}].end.femtoseconds, 1'000'000 + std::llround(3000 * (1 - 1 / 1.3)));
}

TEST(interference, a_factor_below_one_is_refused) {
    Script script;
    script.begin("all");
    EXPECT_THROW(simulate_flow(with(script.finish(), 0.9), {10}), LogicError);
    EXPECT_THROW(ProgramBuilder({"compute"}, 0.9), LogicError);
}

TEST(interference, the_breakdown_counts_the_time_added) {
    Script script;
    script.begin("all");
    const PatternId link = script.builder.pattern(path({0}));
    script.work({10});
    script.take_part(script.exchange({link, {}, {50}}));
    const Program program = with(script.finish(), 1.25);
    const auto parts = break_down(program, simulate_flow(program, {10}), toy::compute_lane, {});
    EXPECT_DOUBLE_EQ(parts[RankClassId{0}].interference.value, 1.0);
    EXPECT_DOUBLE_EQ(parts[RankClassId{0}].busy.value, 11.0);
    EXPECT_DOUBLE_EQ(mean(program, parts).interference.value, 1.0);
}

double overlap(const Span& a, const Span& b) {
    return std::max((std::min(a.end, b.end) - std::max(a.begin, b.begin)).value, 0.0);
}

// Time that a class has something in transfer within `span`: by sorting, as nothing in the engine does.
double in_transfer(const Program& program, const Timeline& timeline, const RankClass& rank_class, const Span& span) {
    std::vector<Span> transfers;
    for (std::uint32_t i = rank_class.first_op; i < rank_class.first_op + rank_class.ops; ++i) {
        if (program.ops[OpId{i}].kind == OpKind::exchange) transfers.push_back(timeline.spans[OpId{i}]);
    }
    std::ranges::sort(transfers, {}, &Span::begin);
    double sum = 0.0;
    Instant covered;
    for (Span each : transfers) {
        each.begin = std::max(each.begin, covered);
        if (each.end <= each.begin) continue;
        sum += overlap(each, span);
        covered = each.end;
    }
    return sum;
}

// The duration c of every op is what its span covers: undisturbed time, and 1 / f of the time beside transfers.
RC_GTEST_PROP(interference, every_op_has_made_just_its_progress, ()) {
    const toy::System system = toy::arbitrary_system(4, 4);
    const double factor = *rc::gen::element(1.0, 1.125, 1.37, 3.0);
    const Program program = with(toy::arbitrary_program(system), factor);
    for (const NetworkKind kind : {NetworkKind::flow, NetworkKind::ideal}) {
        const Timeline timeline = simulate(program, toy::fabric(system.bandwidths), kind);
        for (const RankClass& rank_class : program.classes) {
            for (std::uint32_t i = rank_class.first_op; i < rank_class.first_op + rank_class.ops; ++i) {
                const Op& op = program.ops[OpId{i}];
                if (op.kind != OpKind::compute) continue;
                const Span& span = timeline.spans[OpId{i}];
                const double beside = in_transfer(program, timeline, rank_class, span);
                const double progress = (span.end - span.begin).value - beside * (1 - 1 / factor);
                RC_ASSERT(std::abs(progress - program.work[op.subject].value) <= 1e-14 + 1e-15 * progress);
            }
        }
    }
}

// Where transfers do not wait for the work. (Where they do, slower work may move a transfer away from other work.)
RC_GTEST_PROP(interference, more_of_it_is_never_faster, ()) {
    const Seconds work{*rc::gen::inRange(1, 100) * 1e-3}, transfer{*rc::gen::inRange(0, 20) * 1e-3},
        pause{*rc::gen::inRange(0, 20) * 1e-3};
    const double some = 1.0 + *rc::gen::inRange(0, 800) * 1e-3, more = some + *rc::gen::inRange(0, 800) * 1e-3;
    const auto end = [&](double factor) { return beside_a_beat(work, transfer, pause, 5, factor).spans[OpId{0}].end; };
    RC_ASSERT(Instant{} + work <= end(some));
    RC_ASSERT(end(some) <= end(more));
    RC_ASSERT(end(more) <= Instant{} + work * more + 1_ns);
}

}  // namespace
}  // namespace weft
