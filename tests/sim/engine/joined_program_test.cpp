// Programs side by side: what shares no link runs as if alone, what does shares it, and all bytes arrive.
#include "sim/engine/joined_program.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/engine/run.hpp"
#include "sim/network/flow_network.hpp"
#include "tests/sim/engine/arbitrary_program.hpp"
#include "tests/sim/network/carried.hpp"

namespace weft {
namespace {

using toy::Script;

// Work for a second, then bytes over link 0, of two ranks that meet.
Program transfer(Bytes bytes) {
    Script script;
    const ExchangeId exchange = script.exchange({script.builder.pattern(toy::path({0})), {}, bytes}, 2);
    for (const char* const name : {"first", "second"}) {
        script.begin(name);
        script.take_part(exchange, {script.work({1})});
    }
    return script.finish();
}

LinkMove by(std::int64_t links) {
    LinkMove move(static_cast<std::int32_t>(links));
    move.add_stretch(LinkId{0}, links);
    return move;
}

bool same(const Timeline& a, const Timeline& b) {
    return a.end == b.end && std::ranges::equal(a.spans, b.spans, [](const Span& x, const Span& y) {
               return x.posted == y.posted && x.begin == y.begin && x.end == y.end;
           });
}

TEST(joined_program, equal_flows_over_one_link_take_twice_as_long) {
    const Program program = transfer({20});
    const ProgramPart part{.program = &program, .move = by(0), .runs = 2};
    const JoinedProgram joined = join({part, part});
    const Timeline timeline = simulate(joined.program, toy::fabric({10}), NetworkKind::flow);
    for (const std::size_t of : {0U, 1U}) {
        for (const std::uint32_t number : {0U, 1U}) {
            const PartRun run = run_of(joined, timeline, of, number);
            EXPECT_EQ(since_start(run.begin).value, 5.0 * number);
            EXPECT_EQ(since_start(run.timeline.end).value, 1 + 2 * 20.0 / 10);
        }
    }
}

// From 2 s on the second has the link to itself for half a second, then it shares it: of 20 bytes 5 are over, and of
// the first one's 20 bytes 15 when the second is done.
TEST(joined_program, a_part_begins_when_it_starts) {
    const Program program = transfer({20});
    const JoinedProgram joined = join({{.program = &program, .move = by(0), .start = {1.5}},
                                       {.name = "other ", .program = &program, .move = by(0), .start = {1}}});
    EXPECT_EQ(joined.program.classes[joined.first_class[1]].name, "other first");
    const Timeline timeline = simulate(joined.program, toy::fabric({10}), NetworkKind::flow);
    const PartRun late = run_of(joined, timeline, 0, 0), early = run_of(joined, timeline, 1, 0);
    EXPECT_EQ(since_start(late.begin).value, 1.5);
    EXPECT_EQ(since_start(early.begin).value, 1.0);
    EXPECT_EQ(since_start(early.timeline.end).value, 1 + 0.5 + 2 * 15.0 / 10);
    EXPECT_EQ(since_start(late.timeline.end).value, 1 + 2 * 15.0 / 10 + 5.0 / 10);
}

RC_GTEST_PROP(joined_program, what_shares_no_link_runs_as_if_alone, ()) {
    const toy::System one = toy::arbitrary_system(5, 3), other = toy::arbitrary_system(5, 3);
    const Program first = toy::arbitrary_program(one), second = toy::arbitrary_program(other);
    std::vector<double> both = one.bandwidths;
    both.insert(both.end(), other.bandwidths.begin(), other.bandwidths.end());
    const JoinedProgram joined = join({{.program = &first, .move = by(0), .runs = 3},
                                       {.program = &second,
                                        .move = by(static_cast<std::int64_t>(one.bandwidths.size())),
                                        .start = {0.3},
                                        .runs = 2}});
    const Timeline timeline = simulate(joined.program, toy::fabric(both), NetworkKind::flow);
    const Timeline first_alone = simulate(first, toy::fabric(one.bandwidths), NetworkKind::flow);
    const Timeline second_alone = simulate(second, toy::fabric(other.bandwidths), NetworkKind::flow);
    for (std::uint32_t run = 0; run < 3; ++run) {
        RC_ASSERT(same(run_of(joined, timeline, 0, run).timeline, first_alone));
        if (run < 2) RC_ASSERT(same(run_of(joined, timeline, 1, run).timeline, second_alone));
    }
}

// What each link has carried after a run of the engine.
std::vector<double> carried_by(const Program& program, const Topology& topology) {
    FlowNetwork network(topology, program.patterns, most_in_flight(program));
    run(program, topology, network);
    std::vector<double> bytes;
    for (LinkId link{}; index(link) < topology.links(); link = next(link))
        bytes.push_back(carried(network, link).value);
    return bytes;
}

RC_GTEST_PROP(joined_program, links_carry_the_sum_of_what_parts_send, ()) {
    const toy::System system = toy::arbitrary_system(6, 5);
    const Topology topology = toy::fabric(system.bandwidths);
    const Program first = toy::arbitrary_program(system), second = toy::arbitrary_program(system);
    const JoinedProgram joined =
        join({{.program = &first, .move = by(0), .runs = 2}, {.program = &second, .move = by(0), .start = {0.2}}});
    const std::vector<double> together = carried_by(joined.program, topology), a = carried_by(first, topology),
                              b = carried_by(second, topology);
    for (std::size_t link = 0; link < together.size(); ++link) {
        RC_ASSERT(std::abs(together[link] - (2 * a[link] + b[link])) <= 1e-9 * together[link]);
    }
}

}  // namespace
}  // namespace weft
