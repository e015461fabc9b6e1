#include "sim/engine/replay.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "sim/engine/engine.hpp"
#include "tests/sim/engine/arbitrary_program.hpp"
#include "tests/sim/engine/toy_program.hpp"

namespace weft {
namespace {

constexpr std::int64_t rounding = 16;  // times in doubles, to a few ticks

RC_GTEST_PROP(replay, of_a_run_as_it_was_ends_when_it_did, ()) {
    const toy::System system = toy::arbitrary_system(4, 4);
    const Program program = toy::arbitrary_program(system);
    const Timeline timeline = simulate(program, toy::fabric(system.bandwidths), NetworkKind::flow);
    RC_ASSERT(Replay(program, timeline).end({}) == timeline.end);
}

// Without contention, a replay is a simulation.
RC_GTEST_PROP(replay, of_other_work_and_latencies_ends_as_a_run_of_them, ()) {
    const toy::System system = toy::arbitrary_system(4, 4);
    const Topology fabric = toy::fabric(system.bandwidths);
    const Program program = toy::arbitrary_program(system);
    const Timeline timeline = simulate(program, fabric, NetworkKind::ideal);
    Program changed = program;
    OtherTimes times;
    const auto more = [] { return Seconds{*rc::gen::inRange(0, 4) * 0.5}; };
    for (Seconds& work : changed.work) {
        const Seconds by = more();
        work += by;
        times.work.push_back((Instant{} + by).femtoseconds);
    }
    for (Communication& what : changed.communications) {
        const Seconds by = what.legs > 0 ? more() : Seconds{};
        if (what.legs > 0) changed.legs[what.first_leg].latency += by;
        times.communications.push_back((Instant{} + by).femtoseconds);
    }
    const Instant simulated = simulate(changed, fabric, NetworkKind::ideal).end;
    RC_ASSERT(std::abs(Replay(program, timeline).end(times).femtoseconds - simulated.femtoseconds) <= rounding);
}

TEST(replay, does_not_wait_for_what_was_dropped) {
    // a: works 2, meets b for 1. b: works 5 first.
    toy::Script script;
    const ExchangeId meeting = script.exchange({script.builder.pattern({}), {1.0}, {}}, 2);
    script.begin("a");
    script.take_part(meeting, {script.work({2})});
    script.begin("b");
    script.take_part(meeting, {script.work({5})});
    const Program program = script.finish();
    const Timeline timeline = simulate(program, toy::fabric({}), NetworkKind::flow);
    const Replay replay(program, timeline);
    EXPECT_EQ(since_start(replay.end({})).value, 6);
    EXPECT_EQ(since_start(replay.end({.work = {}, .communications = {}, .dropped = {true}})).value, 5);
}

TEST(replay, takes_no_time_for_what_would_take_less_than_none) {
    toy::Script script;
    script.begin("a");
    script.work({1}, {script.work({2})});
    const Program program = script.finish();
    const Timeline timeline = simulate(program, toy::fabric({}), NetworkKind::flow);
    std::vector<std::int64_t> less(program.work.size(), -timeline.end.femtoseconds);
    EXPECT_EQ(Replay(program, timeline).end({.work = std::move(less), .communications = {}}), Instant{});
}

}  // namespace
}  // namespace weft
