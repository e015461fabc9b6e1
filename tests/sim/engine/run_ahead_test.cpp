// Routines run ahead and give way to whatever interferes. The twin runs every op by itself: its network never has room.
#include "sim/engine/run_ahead.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "sim/engine/breakdown.hpp"
#include "sim/engine/run.hpp"
#include "sim/network/flow_network.hpp"
#include "tests/sim/engine/arbitrary_program.hpp"

namespace weft {
namespace {

using toy::path;
using toy::Script;

template <class N>
struct Shortsighted : N {
    using N::N;
    bool reserve(PatternId) const { return false; }
};
static_assert(ForesightNetwork<Shortsighted<FlowNetwork>>);

template <class N>
Timeline run_on(const Program& program, const Topology& topology) {
    N network(topology, program.patterns);
    return run(program, topology, network);
}

bool equal(const Timeline& a, const Timeline& b) {
    return std::ranges::equal(a.spans, b.spans,
                              [](const Span& x, const Span& y) {
                                  return x.posted == y.posted && x.begin == y.begin && x.end == y.end;
                              }) &&
           a.end == b.end && a.events == b.events &&
           // Classes that share a pattern without contention may add up its bytes in another order.
           std::ranges::equal(a.utilization, b.utilization,
                              [](double x, double y) { return std::abs(x - y) <= 1e-12; });
}

bool alike(const LaneTime& a, const LaneTime& b) {
    return a.transfer == b.transfer && a.exposed == b.exposed && a.waiting == b.waiting && a.calls == b.calls;
}

bool alike(const Breakdown& a, const Breakdown& b) {
    return a.busy == b.busy && a.idle == b.idle && a.interference == b.interference &&
           std::ranges::equal(a.lanes, b.lanes, [](const auto& x, const auto& y) { return alike(x, y); }) &&
           std::ranges::equal(a.calls, b.calls, [](const CallTime& x, const CallTime& y) {
               return alike(x.time, y.time) && x.messages == y.messages;
           });
}

bool alike(const Table<RankClassId, Breakdown>& a, const Table<RankClassId, Breakdown>& b) {
    return std::ranges::equal(a, b, [](const Breakdown& x, const Breakdown& y) { return alike(x, y); });
}

Table<RankClassId, Breakdown> break_down(const Program& program, const Timeline& timeline) {
    const LaneId priority[] = {toy::data_lane};
    return break_down(program, timeline, toy::compute_lane, priority);
}

// What all classes come to, in one order: an exchange, or a routine of each in which they exchange something.
struct Meeting {
    ExchangeId exchange{};
    std::optional<std::size_t> routine;  // number of the joint one
};

// Classes that mostly keep to themselves: work, calls, calls beside work, routines of them. Now and then they exchange
// something beside it all; what they exchange is waited for at once, later, or never. Or they run a joint routine.
Program arbitrary_layers(const toy::System& system) {
    Script script;
    std::vector<PatternId> patterns;
    for (const Pattern& pattern : system.patterns) patterns.push_back(script.builder.pattern(pattern));
    const auto leg = [&]() -> Leg {
        return {patterns[*rc::gen::inRange<std::size_t>(0, patterns.size())],
                {*rc::gen::inRange(0, 3) * 0.125},
                {*rc::gen::inRange(0, 4) * 5.0}};
    };
    const auto classes = *rc::gen::inRange<std::uint32_t>(1, 4);
    std::vector<std::vector<ExchangeId>> joint(*rc::gen::inRange<std::size_t>(0, 3));  // what each exchanges
    for (std::vector<ExchangeId>& exchanges : joint) {
        for (auto left = *rc::gen::inRange(0, 4); left > 0; --left) {
            exchanges.push_back(script.exchange({leg(), leg()}, classes));
        }
    }
    std::vector<Meeting> meetings;
    for (auto left = *rc::gen::inRange(0, 7); left > 0; --left) {
        if (joint.empty() || *rc::gen::element(false, true)) {
            meetings.push_back({script.exchange(leg(), classes), {}});
        } else {
            meetings.push_back({{}, *rc::gen::inRange<std::size_t>(0, joint.size())});
        }
    }
    for (std::uint32_t c = 0; c < classes; ++c) {
        script.begin("class");
        const auto work = [&] {
            return Op{OpKind::compute, toy::compute_lane, script.builder.label("work"),
                      script.builder.work({*rc::gen::inRange(0, 5) * 0.3})};
        };
        const auto call = [&](ExchangeId exchange, LaneId lane) {
            return Op{OpKind::exchange, lane, script.builder.label("call"), static_cast<std::uint32_t>(exchange)};
        };
        std::vector<RoutineId> routines;
        for (auto left = *rc::gen::element(0, 1, 2); left > 0; --left) {
            std::vector<ProgramBuilder::RoutineUnit> segments{{work(), {}}};
            for (auto left_segments = *rc::gen::inRange(0, 12); left_segments > 0; --left_segments) {
                const bool calls = *rc::gen::element(false, true), is_last = left_segments == 1;
                const Op op = calls ? call(script.exchange({leg(), leg()}), toy::tensor_lane) : work();
                const bool is_pair = calls && !is_last && !segments.back().beside && *rc::gen::element(false, true);
                segments.push_back({op, is_pair ? std::optional(work()) : std::nullopt});
                if (is_pair) segments.push_back({{OpKind::join, toy::compute_lane, script.builder.label("join")}, {}});
            }
            routines.push_back(script.builder.routine(segments));
        }
        std::vector<RoutineId> own_of_joint;
        for (const std::vector<ExchangeId>& exchanges : joint) {
            std::vector<ProgramBuilder::RoutineUnit> segments{{work(), {}}};
            const auto add_work = [&] {
                for (auto left = *rc::gen::inRange(0, 4); left > 0; --left) segments.push_back({work(), {}});
            };
            for (const ExchangeId exchange : exchanges) {
                const bool is_pair = *rc::gen::element(false, true);
                segments.push_back({call(exchange, toy::tensor_lane), is_pair ? std::optional(work()) : std::nullopt});
                if (is_pair) segments.push_back({{OpKind::join, toy::compute_lane, script.builder.label("join")}, {}});
                add_work();
            }
            own_of_joint.push_back(script.builder.routine(segments));
        }
        std::vector<OpId> frontier{script.work({0.25})};
        const auto waits = [&] { return std::exchange(frontier, {}); };
        const auto add = [&](const Op& op) { frontier = {script.builder.add(op, waits())}; };
        std::size_t met = 0;
        const auto links = *rc::gen::inRange<std::size_t>(0, 40);
        for (std::size_t i = 0; i < links || met < meetings.size(); ++i) {
            switch (i < links ? *rc::gen::element(0, 1, 2, 3, 4, 5, 6, 7) : 7) {
                case 0:
                case 1:
                    add(work());
                    break;
                case 2:
                    add(call(script.exchange({leg(), leg()}), toy::tensor_lane));
                    break;
                case 3:
                case 4: {
                    add({OpKind::join, toy::compute_lane, script.builder.label("join")});
                    const std::vector<OpId> before = waits();
                    const OpId beside = script.builder.add(call(script.exchange(leg()), toy::tensor_lane), before);
                    frontier = {beside, script.builder.add(work(), before)};
                    break;
                }
                case 5:
                case 6:
                    if (routines.empty()) break;
                    add({OpKind::routine, toy::compute_lane, script.builder.label("routine"),
                         static_cast<std::uint32_t>(*rc::gen::elementOf(routines))});
                    break;
                default:
                    if (met == meetings.size()) break;
                    const Meeting& meeting = meetings[met++];
                    if (meeting.routine) {
                        add({OpKind::routine, toy::compute_lane, script.builder.label("routine"),
                             static_cast<std::uint32_t>(own_of_joint[*meeting.routine])});
                        break;
                    }
                    const OpId party = script.builder.add(call(meeting.exchange, toy::data_lane), frontier);
                    if (*rc::gen::inRange(0, 3) == 0) frontier.push_back(party);
            }
        }
    }
    return script.finish();
}

template <class N>
void runs_as_op_by_op() {
    const toy::System system = toy::arbitrary_system(5, 5);
    Program program = arbitrary_layers(system);
    program.interference = *rc::gen::element(1.0, 1.25, 1.19);
    program.jitter = {*rc::gen::element(0.0, 0.3), *rc::gen::inRange(0U, 9U)};
    const Topology topology = toy::fabric(system.bandwidths);
    const Program unfolded = unfold(program);
    const Timeline op_by_op = run_on<Shortsighted<N>>(unfolded, topology);
    const Timeline ahead = run_on<N>(program, topology);
    RC_ASSERT(equal(unfold(program, ahead), op_by_op));
    RC_ASSERT(equal(unfold(program, run_on<Shortsighted<N>>(program, topology)), op_by_op));
    RC_ASSERT(alike(break_down(program, ahead), break_down(unfolded, op_by_op)));
}

RC_GTEST_PROP(run_ahead, routines_run_as_their_ops_would_one_by_one_on_the_flow_network, ()) {
    runs_as_op_by_op<FlowNetwork>();
}

RC_GTEST_PROP(run_ahead, routines_run_as_their_ops_would_one_by_one_on_the_ideal_network, ()) {
    runs_as_op_by_op<IdealNetwork>();
}

RC_GTEST_PROP(run_ahead, routines_run_as_their_ops_would_where_communication_takes_no_time, ()) {
    const toy::System system = toy::arbitrary_system(5, 5);
    const Program program = arbitrary_layers(system), unfolded = unfold(program);
    const Topology topology = toy::fabric(system.bandwidths);
    const Timeline timeline = simulate(program, topology, NetworkKind::free);
    const Timeline op_by_op = simulate(unfolded, topology, NetworkKind::free);
    RC_ASSERT(equal(unfold(program, timeline), op_by_op));
    RC_ASSERT(alike(break_down(program, timeline), break_down(unfolded, op_by_op)));
}

RC_GTEST_PROP(run_ahead, arbitrary_programs_run_as_op_by_op, ()) {
    const toy::System system = toy::arbitrary_system(4, 4);
    Program program = toy::arbitrary_program(system);
    program.interference = *rc::gen::element(1.0, 1.5);
    const Topology topology = toy::fabric(system.bandwidths);
    RC_ASSERT(equal(run_on<FlowNetwork>(program, topology), run_on<Shortsighted<FlowNetwork>>(program, topology)));
}

// Rates are solved only where a routine could not run ahead.
TEST(run_ahead, an_undisturbed_routine_needs_no_solve) {
    Script script;
    const PatternId link = script.builder.pattern(path({0}));
    script.begin("all");
    OpId last = script.work({1});
    for (int i = 0; i < 10; ++i) {
        last = script.take_part(script.exchange({link, {1}, {20}}), {last});
        last = script.work({1}, {last});
    }
    const Timeline timeline = simulate(script.finish(), toy::fabric({10}), NetworkKind::flow);
    EXPECT_EQ(timeline.solves, 0U);
    EXPECT_EQ(timeline.events, 31U) << "as many as op by op: work, latencies, flows";
    EXPECT_EQ(timeline.end, Instant{} + Seconds{11 + 10 * 3});
    EXPECT_DOUBLE_EQ(timeline.utilization.rows().front(), 20.0 / 41.0);
}

// Two ranks meet on a link in the middle of their routines, from 2 to 4 one alone at 10 bytes a second, then each at 5.
TEST(run_ahead, a_flow_that_comes_in_between_takes_its_share) {
    Script script;
    const PatternId one = script.builder.pattern(path({0, 1})), other = script.builder.pattern(path({0, 2}));
    std::vector<OpId> calls;
    for (const auto& [pattern, start] : {std::pair{one, 2.0}, std::pair{other, 4.0}}) {
        script.begin("class");
        const OpId first = script.work({start});
        calls.push_back(script.take_part(script.exchange({pattern, {}, {40}}), {first}));
        script.work({1}, {calls.back()});
    }
    const Timeline timeline = simulate(script.finish(), toy::fabric({10, 100, 100}), NetworkKind::flow);
    EXPECT_EQ(timeline.spans[calls[0]].end, Instant{} + Seconds{8}) << "20 bytes by 4, 20 more at 5 a second";
    EXPECT_EQ(timeline.spans[calls[1]].end, Instant{} + Seconds{10}) << "20 bytes by 8, 20 more at 10 a second";
}

}  // namespace
}  // namespace weft
