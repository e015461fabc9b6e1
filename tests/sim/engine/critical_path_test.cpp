#include "sim/engine/critical_path.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include "sim/engine/engine.hpp"
#include "tests/sim/engine/arbitrary_program.hpp"
#include "tests/sim/engine/toy_program.hpp"

namespace weft {
namespace {

using toy::Script;

std::int64_t ticks_of(const std::vector<PathPiece>& pieces) {
    std::int64_t sum = 0;
    for (const PathPiece& piece : pieces) sum += piece.end.femtoseconds - piece.begin.femtoseconds;
    return sum;
}

// An exchange of `seconds` among `parties`.
ExchangeId lasting(Script& script, double seconds, std::uint32_t parties) {
    return script.exchange({script.builder.pattern({}), {seconds}, {}}, parties);
}

TEST(critical_path, goes_on_with_the_party_that_arrived_last) {
    // a: works 2, meets b for 1, works 1. b: works 5 first.
    Script script;
    const ExchangeId meeting = lasting(script, 1, 2);
    script.begin("a");
    const OpId early = script.work({2});
    const OpId a = script.take_part(meeting, {early});
    const OpId last = script.work({1}, {a});
    script.begin("b");
    const OpId late = script.work({5});
    const OpId b = script.take_part(meeting, {late});
    const Program program = script.finish();
    const Timeline timeline = simulate(program, toy::fabric({}), NetworkKind::flow);
    const CriticalPath path(program, timeline);
    std::vector<OpId> ops;
    for (const PathPiece& piece : path.pieces()) ops.push_back(piece.op);
    EXPECT_EQ(ops, (std::vector{late, a, last}));
    const std::vector<std::int64_t> slack = path.slack();
    EXPECT_EQ(since_start({slack[index(early)]}).value, 3);
    for (const OpId op : {late, a, b, last}) EXPECT_EQ(slack[index(op)], 0);
}

TEST(critical_path, changes_classes_only_where_it_must) {
    // Both arrive at once.
    Script script;
    const ExchangeId meeting = lasting(script, 1, 2);
    std::vector<OpId> works, meets;
    for (const char* const name : {"a", "b"}) {
        script.begin(name);
        works.push_back(script.work({2}));
        meets.push_back(script.take_part(meeting, {works.back()}));
    }
    const OpId last = script.work({1}, {meets[1]});
    const Program program = script.finish();
    const Timeline timeline = simulate(program, toy::fabric({}), NetworkKind::flow);
    std::vector<OpId> ops;
    for (const PathPiece& piece : CriticalPath(program, timeline).pieces()) ops.push_back(piece.op);
    EXPECT_EQ(ops, (std::vector{works[1], meets[1], last}));
}

RC_GTEST_PROP(critical_path, is_a_row_of_dependencies_from_0_to_the_end, ()) {
    const toy::System system = toy::arbitrary_system(4, 4);
    const Topology fabric = toy::fabric(system.bandwidths);
    const Program program = toy::arbitrary_program(system);
    const Timeline timeline = simulate(program, fabric, NetworkKind::flow);
    const CriticalPath path(program, timeline);
    const std::vector<PathPiece> pieces = path.pieces();
    RC_ASSERT(ticks_of(pieces) == timeline.end.femtoseconds);
    Instant at;
    for (const PathPiece& piece : pieces) {
        RC_ASSERT(piece.begin == at);
        at = piece.end;
    }
    RC_ASSERT(at == timeline.end);
    const std::vector<std::int64_t> slack = path.slack();
    for (const PathPiece& piece : pieces) RC_ASSERT(slack[index(piece.op)] == 0);
    for (const std::int64_t one : slack) RC_ASSERT(one >= 0);
}

// Ticks by which the end of an op may be off that works for `work` as given and for `longer`, a sum of it: each is
// rounded to a double at most twice, and to a tick once.
double rounding_of(Seconds work, Seconds longer) {
    const auto spacing = [](Seconds t) {
        return std::nextafter(t.value, std::numeric_limits<double>::infinity()) - t.value;
    };
    return 2 + (spacing(work) + 2 * spacing(longer)) * Instant::ticks_per_second;
}

// Without contention, an op may take longer by its slack and no more.
RC_GTEST_PROP(critical_path, slack_is_what_a_computation_may_take_longer, ()) {
    const toy::System system = toy::arbitrary_system(4, 4);
    const Topology fabric = toy::fabric(system.bandwidths);
    Program program = toy::arbitrary_program(system);
    const Timeline timeline = simulate(program, fabric, NetworkKind::ideal);
    const std::vector<std::int64_t> slack = CriticalPath(program, timeline).slack();
    for (OpId op{}; op != program.ops.end_id(); op = next(op)) {
        if (program.ops[op].kind != OpKind::compute) continue;
        const Seconds work = program.work[program.ops[op].subject];
        Program longer = program;
        const auto expect_end = [&](std::int64_t more, std::int64_t later) {
            longer.work.push_back(work + since_start({more}));
            longer.ops.shared(op).subject = static_cast<std::uint32_t>(longer.work.size() - 1);
            const std::int64_t off = simulate(longer, fabric, NetworkKind::ideal).end.femtoseconds - later;
            RC_ASSERT(std::abs(static_cast<double>(off)) <= rounding_of(work, longer.work.back()));
        };
        const std::int64_t second = 1'000'000'000'000'000;
        expect_end(slack[index(op)], timeline.end.femtoseconds);
        expect_end(slack[index(op)] + second, timeline.end.femtoseconds + second);
    }
}

}  // namespace
}  // namespace weft
