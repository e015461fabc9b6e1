#include "sim/engine/breakdown.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "sim/base/check.hpp"
#include "sim/engine/engine.hpp"
#include "tests/sim/engine/toy_program.hpp"

namespace weft {
namespace {

using toy::compute_lane;
using toy::data_lane;
using toy::Script;
using toy::tensor_lane;

// An exchange of `seconds` among one class.
ExchangeId lasting(Script& script, double seconds, LaneId dimension = tensor_lane) {
    return script.exchange({script.builder.pattern({}), {seconds}, {}}, 1, dimension);
}

Breakdown only_class(const Program& program, std::vector<LaneId> priority = {}) {
    const Timeline timeline = simulate(program, toy::fabric({}), NetworkKind::flow);
    return break_down(program, timeline, compute_lane, priority)[RankClassId{0}];
}

TEST(breakdown, communication_hidden_behind_computing_is_not_exposed) {
    // work 0..5, tensor 0..3 beside it, then tensor 5..7 in the open.
    Script script;
    script.begin("all");
    script.take_part(lasting(script, 3));
    const OpId work = script.work({5});
    script.take_part(lasting(script, 2), {work});
    const Breakdown b = only_class(script.finish());
    EXPECT_DOUBLE_EQ(b.busy.value, 5);
    EXPECT_DOUBLE_EQ(b.lanes[tensor_lane].transfer.value, 5);
    EXPECT_DOUBLE_EQ(b.lanes[tensor_lane].exposed.value, 2);
    EXPECT_DOUBLE_EQ(b.lanes[tensor_lane].calls, 2);
    EXPECT_DOUBLE_EQ(b.idle.value, 0);
}

TEST(breakdown, a_partly_hidden_exchange_is_exposed_for_the_rest) {
    Script script;
    script.begin("all");
    script.take_part(lasting(script, 8));
    script.work({5});
    EXPECT_DOUBLE_EQ(only_class(script.finish()).lanes[tensor_lane].exposed.value, 3);
}

TEST(breakdown, a_moment_with_two_lanes_in_transfer_goes_to_the_one_of_higher_priority) {
    // tensor 0..4 and data 0..6, nothing computes.
    const auto exposed = [](std::vector<LaneId> priority) {
        Script script;
        script.begin("all");
        script.take_part(lasting(script, 4), {}, tensor_lane);
        script.take_part(lasting(script, 6), {}, data_lane);
        const Breakdown b = only_class(script.finish(), std::move(priority));
        return std::pair(b.lanes[tensor_lane].exposed.value, b.lanes[data_lane].exposed.value);
    };
    EXPECT_EQ(exposed({tensor_lane, data_lane}), std::pair(4.0, 2.0));
    EXPECT_EQ(exposed({data_lane, tensor_lane}), std::pair(0.0, 6.0));
    EXPECT_EQ(exposed({data_lane}), std::pair(0.0, 6.0)) << "lanes not named come last";
}

TEST(breakdown, waiting_for_the_last_member_is_idle_time_and_not_transfer) {
    Script script;
    const ExchangeId exchange = script.exchange({script.builder.pattern({}), {2}, {}}, 2);
    script.begin("early", 3);
    script.take_part(exchange, {script.work({1})});
    script.begin("late", 1);
    script.take_part(exchange, {script.work({5})});
    const Program program = script.finish();
    const auto classes = break_down(program, simulate(program, toy::fabric({}), NetworkKind::flow), compute_lane, {});
    const Breakdown& early = classes[RankClassId{0}];
    EXPECT_DOUBLE_EQ(early.lanes[tensor_lane].waiting.value, 4);
    EXPECT_DOUBLE_EQ(early.lanes[tensor_lane].transfer.value, 2);
    EXPECT_DOUBLE_EQ(early.idle.value, 4);
    EXPECT_DOUBLE_EQ(classes[RankClassId{1}].idle.value, 0);
    // Three ranks of the first class and one of the second.
    const Breakdown all = mean(program, classes);
    EXPECT_DOUBLE_EQ(all.busy.value, (3 * 1 + 5) / 4.0);
    EXPECT_DOUBLE_EQ(all.idle.value, 3);
    EXPECT_DOUBLE_EQ(all.exposed().value, 2);
    EXPECT_DOUBLE_EQ(all.lanes[tensor_lane].waiting.value, 3);
    EXPECT_DOUBLE_EQ(all.lanes[tensor_lane].calls, 1);
}

TEST(breakdown, a_blocking_call_on_the_compute_lane_belongs_to_its_dimension) {
    Script script;
    script.begin("all");
    script.work({1});
    script.take_part(lasting(script, 2, data_lane), {}, compute_lane);
    script.work({1});
    const Breakdown b = only_class(script.finish());
    EXPECT_DOUBLE_EQ(b.busy.value, 2);
    EXPECT_DOUBLE_EQ(b.lanes[data_lane].exposed.value, 2);
    EXPECT_DOUBLE_EQ(b.lanes[compute_lane].exposed.value, 0);
}

TEST(breakdown, calls_are_told_apart_by_lane_operation_group_size_and_message) {
    // One lane: all_reduce of 4 for 2 s, then nothing for 0 s, then all_gather of 8 for 3 s twice; work hides 1 s.
    Script script;
    const auto call = [&](Collective op, std::uint32_t group_size, double seconds, double bytes) {
        const std::vector<Leg> legs{{script.builder.pattern({}), {seconds}, {}}};
        const CommunicationId what = script.builder.communication(
            {.op = op, .dimension = tensor_lane, .group_size = group_size, .message = {bytes}}, legs);
        script.take_part(script.builder.exchange(what, 1));
    };
    script.begin("all");
    script.work({1});
    call(Collective::all_reduce, 4, 2, 100);
    call(Collective::broadcast, 2, 0, 1);
    call(Collective::all_gather, 8, 3, 10);
    call(Collective::all_gather, 8, 3, 20);
    const Breakdown b = only_class(script.finish());
    ASSERT_EQ(b.calls.size(), 4U);
    const auto kind = [&](Collective op) {  // the first: the smallest message
        return *std::ranges::find_if(b.calls, [&](const CallTime& c) { return c.op == op; });
    };
    const CallTime reduce = kind(Collective::all_reduce), gather = kind(Collective::all_gather);
    EXPECT_EQ(reduce.group_size, 4U);
    EXPECT_DOUBLE_EQ(reduce.time.transfer.value, 2);
    EXPECT_DOUBLE_EQ(reduce.time.exposed.value, 1);
    EXPECT_EQ(gather.group_size, 8U);
    EXPECT_EQ(gather.message, Bytes{10});
    EXPECT_DOUBLE_EQ(gather.messages.value, 10);
    EXPECT_DOUBLE_EQ(gather.time.calls, 1);
    EXPECT_DOUBLE_EQ(gather.time.exposed.value, 3);
    EXPECT_DOUBLE_EQ(kind(Collective::broadcast).time.exposed.value, 0);
    EXPECT_DOUBLE_EQ(b.lanes[tensor_lane].exposed.value, 7);
}

TEST(breakdown, a_lane_named_twice_in_the_priority_is_refused) {
    Script script;
    script.begin("all");
    EXPECT_THROW(only_class(script.finish(), {data_lane, data_lane}), LogicError);
}

// Oracle: look at every quarter of a second, the grain of all durations here.
RC_GTEST_PROP(breakdown, every_quarter_second_is_busy_exposed_or_idle, ()) {
    Script script;
    script.begin("all");
    const auto ops = *rc::gen::inRange(1, 25);
    std::vector<OpId> known;
    for (int i = 0; i < ops; ++i) {
        const double seconds = *rc::gen::inRange(0, 6) * 0.25;
        const LaneId lane = *rc::gen::element(compute_lane, tensor_lane, data_lane);
        const OpId after = known.empty() ? OpId{} : *rc::gen::elementOf(known);
        const ExchangeId exchange = lasting(script, seconds, lane == compute_lane ? tensor_lane : lane);
        if (lane == compute_lane) {
            const OpId silent = script.take_part(exchange, {}, tensor_lane);
            known.push_back(known.empty() ? script.work({seconds}, {silent}) : script.work({seconds}, {after}));
        } else {
            known.push_back(known.empty() ? script.take_part(exchange, {}, lane)
                                          : script.take_part(exchange, {after}, lane));
        }
    }
    const Program program = script.finish();
    const Timeline timeline = simulate(program, toy::fabric({}), NetworkKind::flow);
    const std::vector<LaneId> priority{data_lane, tensor_lane};
    const Breakdown b = break_down(program, timeline, compute_lane, priority)[RankClassId{0}];

    Table<LaneId, double> expected(3, 0.0);
    double idle = 0.0;
    for (double t = 0.125; t < since_start(timeline.end).value; t += 0.25) {
        const auto is_under_way = [&](LaneId lane) {
            for (OpId op{}; op != program.ops.end_id(); op = next(op)) {
                const Span& span = timeline.spans[op];
                const Instant now = Instant{} + Seconds{t};
                if (program.ops[op].lane == lane && span.begin <= now && now < span.end) return true;
            }
            return false;
        };
        if (is_under_way(compute_lane)) {
            expected[compute_lane] += 0.25;
        } else if (is_under_way(data_lane)) {
            expected[data_lane] += 0.25;
        } else if (is_under_way(tensor_lane)) {
            expected[tensor_lane] += 0.25;
        } else {
            idle += 0.25;
        }
    }
    RC_ASSERT(b.busy.value == expected[compute_lane]);
    RC_ASSERT(b.lanes[data_lane].exposed.value == expected[data_lane]);
    RC_ASSERT(b.lanes[tensor_lane].exposed.value == expected[tensor_lane]);
    RC_ASSERT(b.idle.value == idle);
    RC_ASSERT(std::abs((b.busy + b.exposed() + b.idle - since_start(timeline.end)).value) <= 1e-12);
}

}  // namespace
}  // namespace weft
