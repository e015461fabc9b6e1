#include "sim/engine/chains.hpp"

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

TEST(chains, work_and_calls_in_turn_are_one) {
    Layer script;
    script.begin("all");
    const OpId first = script.work({1});
    const OpId call = script.call({first});
    const OpId second = script.work({1}, {call});
    const OpId last = script.call({second});
    const Program program = script.finish();
    const Chains chains(program);
    EXPECT_EQ(chains.end(number(first)), number(last) + 1);
    EXPECT_EQ(chains.end(number(second)), number(last) + 1) << "it may be entered anywhere";
    EXPECT_EQ(chains.ops(number(call)), 1U);
}

TEST(chains, a_call_beside_work_is_one_link_where_both_are_waited_for) {
    Layer script;
    script.begin("all");
    const OpId before = script.work({1});
    const OpId call = script.call({before});
    const OpId beside = script.work({1}, {before});
    const OpId after = script.join({call, beside});
    const Program program = script.finish();
    const Chains chains(program);
    EXPECT_EQ(chains.end(number(before)), number(after) + 1);
    EXPECT_EQ(chains.ops(number(call)), 2U);
    EXPECT_EQ(chains.end(number(beside)), 0U) << "no link begins with its second op";
}

TEST(chains, they_end_before_what_others_wait_for) {
    Layer script;
    script.begin("all");
    const OpId first = script.work({1});
    const OpId second = script.work({1});
    const OpId third = script.work({1});
    script.take_part(script.exchange({script.link, {}, {10}}), {second}, toy::data_lane);  // beside the third
    const Program program = script.finish();
    const Chains chains(program);
    EXPECT_EQ(chains.end(number(first)), number(second) + 1);
    EXPECT_EQ(chains.end(number(third)), number(third) + 1);
}

TEST(chains, they_end_before_exchanges_with_others) {
    Layer script;
    const ExchangeId meet = script.exchange({script.link, {}, {10}}, 2);
    OpId first{}, second{};
    for (const char* name : {"one", "other"}) {
        script.begin(name);
        first = script.work({1});
        second = script.work({1});
        script.work({1}, {script.take_part(meet, {second})});
    }
    const Program program = script.finish();
    const Chains chains(program);
    EXPECT_EQ(chains.end(number(first)), number(second) + 1);
    EXPECT_EQ(chains.end(number(second) + 1), 0U);
}

TEST(chains, they_do_not_end_with_two_ops_side_by_side) {
    Layer script;
    script.begin("all");
    const OpId first = script.work({1});
    const OpId second = script.work({1});
    script.call({second});
    script.work({1}, {second});
    const Program program = script.finish();
    EXPECT_EQ(Chains(program).end(number(first)), number(second) + 1);
}

}  // namespace
}  // namespace weft
