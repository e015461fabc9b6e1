#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/engine/engine.hpp"
#include "tests/sim/engine/toy_program.hpp"

namespace weft {
namespace {

using testing::HasSubstr;
using toy::Script;
using toy::tensor_lane;

std::string message(const Program& program) {
    try {
        simulate(program, toy::fabric({}), NetworkKind::flow);
    } catch (const Deadlock& deadlock) {
        return deadlock.what();
    }
    return "no deadlock";
}

// Both stages send before they receive, on one lane: the classic blocking pipeline.
TEST(deadlock, two_stages_that_both_send_first_are_named_op_by_op) {
    Script script;
    const ExchangeId down = script.exchange(std::vector<Leg>{}, 2), up = script.exchange(std::vector<Leg>{}, 2);
    const auto party = [&](ExchangeId exchange, const char* label) {
        const auto subject = static_cast<std::uint32_t>(exchange);
        script.builder.add({OpKind::exchange, tensor_lane, script.builder.label(label), subject, 3}, {});
    };
    script.begin("stage 0");
    party(down, "send activation"), party(up, "receive gradient");
    script.begin("stage 1");
    party(up, "send gradient"), party(down, "receive activation");
    EXPECT_EQ(message(script.finish()),
              "deadlock: 4 of 4 ops can never finish; of 4, each waits for the next:\n"
              "  stage 0: send activation #3\n"
              "  stage 1: receive activation #3\n"
              "  stage 1: send gradient #3\n"
              "  stage 0: receive gradient #3\n"
              "and the last for the first");
}

TEST(deadlock, ops_that_only_hang_on_the_circle_are_counted_but_not_named) {
    Script script;
    const ExchangeId a = script.exchange(std::vector<Leg>{}, 2), b = script.exchange(std::vector<Leg>{}, 2);
    script.begin("first");
    script.work({1});
    script.take_part(a), script.take_part(b);
    script.begin("second");
    const OpId last = (script.take_part(b), script.take_part(a));
    script.work({1}, {last});
    const std::string text = message(script.finish());
    EXPECT_THAT(text, HasSubstr("5 of 6 ops can never finish; of 4, each waits for the next"));
    EXPECT_THAT(text, testing::Not(HasSubstr("work")));
}

TEST(deadlock, a_dependency_across_lanes_closes_a_circle_too) {
    Script script;
    const ExchangeId a = script.exchange(std::vector<Leg>{}, 2), b = script.exchange(std::vector<Leg>{}, 2);
    script.begin("first");
    const OpId before = script.take_part(a);
    script.take_part(b, {before}, toy::data_lane);
    script.begin("second");
    script.take_part(b), script.take_part(a);
    EXPECT_THAT(message(script.finish()), HasSubstr("4 of 4 ops can never finish; of 4, each"));
}

TEST(deadlock, a_long_circle_is_shortened) {
    constexpr std::uint32_t classes = 20;
    Script script;
    std::vector<ExchangeId> ring;
    for (std::uint32_t i = 0; i < classes; ++i) ring.push_back(script.exchange(std::vector<Leg>{}, 2));
    for (std::uint32_t i = 0; i < classes; ++i) {  // each serves its right neighbour before its left one
        script.begin("rank " + std::to_string(i));
        script.take_part(ring[i]), script.take_part(ring[(i + classes - 1) % classes]);
    }
    const std::string text = message(script.finish());
    EXPECT_THAT(text, HasSubstr("40 of 40 ops can never finish; of 40, each waits for the next"));
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 12) << text;
}

TEST(deadlock, a_part_is_named_where_there_is_one) {
    Script script;
    script.begin("stage 2");
    const auto work = script.builder.work({1});
    const OpId op =
        script.builder.add({OpKind::compute, toy::compute_lane, script.builder.label("forward"), work, 4, 7}, {});
    EXPECT_EQ(describe(script.finish(), op), "stage 2: forward #4, part 7");
}

}  // namespace
}  // namespace weft
