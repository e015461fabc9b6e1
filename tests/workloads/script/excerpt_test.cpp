// Stretches of a script, cut out and written again.

#include <gtest/gtest.h>

#include "workloads/script/script.hpp"

namespace weft {
namespace {

const Call sum{.op = Collective::all_reduce, .group = RankGroups{"tensor"}, .message = {8}, .label = "sum"};

// A computation, a call beside the next one that starts after it, and what follows both.
void write(Script& script, std::uint32_t micro_batch) {
    const Where where{micro_batch, 3};
    const ActionId early = script.issue(sum, where, script.now());
    script.compute("first", {1}, where);
    script.wait(early);
    script.compute("second", {2}, where);
}

TEST(excerpt, written_again_refers_to_where_it_stands) {
    Script script;
    script.compute("before", {5}, {});
    const Joint begin = script.joint();
    write(script, 0);
    const std::optional<Excerpt> excerpt = script.since(begin, 3);
    ASSERT_TRUE(excerpt.has_value());
    ASSERT_EQ(excerpt->actions.size(), 4U);
    EXPECT_EQ(excerpt->actions[0].after, Excerpt::before);
    script.repeat(*excerpt, {1, 5});

    const std::vector<Action>& actions = script.actions();
    ASSERT_EQ(actions.size(), 9U);
    EXPECT_EQ(actions[5].after, 4U);    // the second computation of the first time
    EXPECT_EQ(actions[7].subject, 5U);  // its own call
    EXPECT_EQ(actions[8].where.micro_batch, 1U);
    EXPECT_EQ(actions[8].where.layer, 5U);
    EXPECT_EQ(script.now(), 8U);
}

TEST(excerpt, shares_its_work_but_for_a_last_computation_that_is_made_longer) {
    Script script;
    script.compute("before", {5}, {});
    const Joint begin = script.joint();
    write(script, 0);
    const std::optional<Excerpt> excerpt = script.since(begin, 3);
    ASSERT_TRUE(excerpt.has_value());
    script.extend(4, {10}, "longer");
    script.repeat(*excerpt, {1, 5});
    const std::vector<Action>& actions = script.actions();
    EXPECT_EQ(script.work()[actions[4].subject].value, 12);
    EXPECT_EQ(script.work()[actions[8].subject].value, 2);
    EXPECT_EQ(script.labels()[actions[8].label], "second");
    EXPECT_EQ(actions[6].subject, actions[2].subject);
}

TEST(excerpt, ends_as_what_it_repeats_ends) {
    Script script;
    script.compute("before", {5}, {});
    const Joint begin = script.joint();
    script.wait(script.issue(sum, {0, 0}, script.now()));
    const std::optional<Excerpt> excerpt = script.since(begin, 3);
    ASSERT_TRUE(excerpt.has_value());
    script.compute("between", {1}, {});
    EXPECT_FALSE(script.waited());
    script.repeat(*excerpt, {1, 5});
    EXPECT_TRUE(script.waited());
    EXPECT_EQ(script.joint().chain, 3U);  // nothing of the excerpt is on the chain
}

TEST(excerpt, is_nothing_that_refers_to_something_older_than_the_chain_before_it) {
    Script script;
    script.compute("before", {5}, {});
    const ActionId older = script.issue(sum, {}, script.now());
    const ActionId oldest = script.compute("chain", {5}, {}) - 2;
    script.compute("end", {5}, {});
    const Joint begin = script.joint();
    write(script, 0);
    EXPECT_TRUE(script.since(begin, 3).has_value());
    const Joint wait = script.joint();
    script.wait(older);
    EXPECT_FALSE(script.since(wait, 0).has_value());
    const Joint issue = script.joint();
    script.issue(sum, {}, oldest);
    EXPECT_FALSE(script.since(issue, 0).has_value());
}

TEST(excerpt, needs_a_chain_before_it_and_something_in_it) {
    Script script;
    const Joint begin = script.joint();
    write(script, 0);
    EXPECT_FALSE(script.since(begin, 3).has_value());
    EXPECT_FALSE(script.since(script.joint(), 0).has_value());
}

}  // namespace
}  // namespace weft
