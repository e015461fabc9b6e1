#include "sim/engine/timeline.hpp"

#include <gtest/gtest.h>

#include "tests/sim/engine/toy_program.hpp"

namespace weft {
namespace {

using toy::path;
using toy::Script;

std::uint32_t number(OpId op) { return static_cast<std::uint32_t>(op); }

struct Layer : Script {
    PatternId link = builder.pattern(path({0}));
    OpId call(std::initializer_list<OpId> after) { return take_part(exchange({link, {}, {10}}), after); }
};

// Work of 7 ticks, transfers of 10.
RoutineTimes times_of(Program program) {
    program.work.assign(program.work.size(), Seconds{7 / Instant::ticks_per_second});
    return {program, Table<CommunicationId, std::int64_t>(program.communications.size(), 10)};
}

TEST(routine_times, work_and_calls_in_turn_are_one_routine) {
    Layer script;
    script.begin("all");
    const OpId first = script.work({1});
    const OpId call = script.call({first});
    const OpId second = script.work({1}, {call});
    const OpId last = script.call({second});
    const RoutineTimes all = times_of(script.finish());
    const RoutineTimes::OfClass times = all.of(RankClassId{0});
    EXPECT_EQ(times.end(number(first)), number(last) + 1);
    EXPECT_EQ(times.end(number(second)), number(last) + 1) << "it may be entered anywhere";
    EXPECT_EQ(times.ops_of_unit(number(call)), 1U);
    EXPECT_EQ(times.begin(number(last), Disturbance::none), 7 + 10 + 7);
    EXPECT_EQ(times.over(number(last), Disturbance::none), 7 + 10 + 7 + 10);
}

TEST(routine_times, a_call_beside_work_is_one_link_where_both_are_waited_for) {
    Layer script;
    script.begin("all");
    const OpId before = script.work({1});
    const OpId call = script.call({before});
    const OpId beside = script.work({1}, {before});
    const OpId after = script.join({call, beside});
    const RoutineTimes all = times_of(script.finish());
    const RoutineTimes::OfClass times = all.of(RankClassId{0});
    EXPECT_EQ(times.end(number(before)), number(after) + 1);
    EXPECT_EQ(times.ops_of_unit(number(call)), 2U);
    EXPECT_EQ(times.end(number(beside)), 0U) << "no link begins with its second op";
    EXPECT_EQ(times.over(number(beside), Disturbance::none), 7 + 7);
    EXPECT_EQ(times.begin(number(after), Disturbance::none), 7 + 10) << "both are waited for";
}

TEST(routine_times, work_takes_longer_beside_a_transfer) {
    Layer script;
    script.begin("all");
    OpId last{};
    for (int i = 0; i < 3; ++i) last = script.work({1});
    Program program = script.finish();
    program.interference = 2.0;
    EXPECT_EQ(times_of(program).of(RankClassId{0}).over(number(last), Disturbance::none), 3 * 7);
    EXPECT_EQ(times_of(program).of(RankClassId{0}).over(number(last), Disturbance::transfer), 3 * 14);
}

TEST(routine_times, the_last_link_begun_is_the_one_under_way) {
    Layer script;
    script.begin("all");
    const OpId before = script.work({1});
    const OpId call = script.call({before});
    const OpId beside = script.work({1}, {before});
    const OpId after = script.work({1}, {call, beside});
    const RoutineTimes all = times_of(script.finish());
    const RoutineTimes::OfClass times = all.of(RankClassId{0});
    const auto at = [&](std::int64_t ticks) {
        return times.last_begun(number(before), number(after) + 1, ticks, Disturbance::none);
    };
    EXPECT_EQ(at(6), number(before));
    EXPECT_EQ(at(7), number(call)) << "a link, not its second op";
    EXPECT_EQ(at(16), number(call));
    EXPECT_EQ(at(17), number(after));
}

TEST(routine_times, routines_end_before_what_others_wait_for) {
    Layer script;
    script.begin("all");
    const OpId first = script.work({1});
    script.work({1});
    const OpId third = script.work({1});
    const OpId fourth = script.work({1});
    script.take_part(script.exchange({script.link, {}, {10}}), {third}, toy::data_lane);  // beside the fourth
    const RoutineTimes all = times_of(script.finish());
    const RoutineTimes::OfClass times = all.of(RankClassId{0});
    EXPECT_EQ(times.end(number(first)), number(third) + 1);
    EXPECT_EQ(times.end(number(fourth)), 0U) << "one op is no routine";
}

TEST(routine_times, routines_end_before_exchanges_with_others) {
    Layer script;
    const ExchangeId meet = script.exchange({script.link, {}, {10}}, 2);
    OpId first{}, third{};
    for (const char* name : {"one", "other"}) {
        script.begin(name);
        first = script.work({1});
        script.work({1});
        third = script.work({1});
        script.work({1}, {script.take_part(meet, {third})});
    }
    const RoutineTimes all = times_of(script.finish());
    const RoutineTimes::OfClass times = all.of(RankClassId{0});
    EXPECT_EQ(times.end(number(first)), number(third) + 1);
    EXPECT_EQ(times.end(number(third) + 1), 0U);
}

TEST(routine_times, routines_do_not_end_with_two_ops_side_by_side) {
    Layer script;
    script.begin("all");
    const OpId first = script.work({1});
    script.work({1});
    const OpId third = script.work({1});
    script.call({third});
    script.work({1}, {third});
    EXPECT_EQ(times_of(script.finish()).of(RankClassId{0}).end(number(first)), number(third) + 1);
}

}  // namespace
}  // namespace weft
