// Which actions of a repeated excerpt can be routines.
#include "workloads/step/step_builder.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include <fmt/format.h>

namespace weft {
namespace {

const Call sum{.op = Collective::all_reduce, .group = RankGroups{"tensor"}, .message = {8}, .label = "sum"};
const Call other{.op = Collective::all_reduce, .group = RankGroups{"data"}, .message = {8}, .label = "other"};

bool is_sum(const Script& script, const Action& call) { return script.calls()[call.subject] == sum; }

// Writes an excerpt twice and cuts it: "[0 1+2 3]" for routines, "4..6" for the rest.
std::string cut_twice(const std::function<void(Script&, Where)>& write) {
    Script script;
    script.compute("before", {5}, {});
    const Joint begin = script.joint();
    write(script, {0, 0});
    const std::optional<Excerpt> excerpt = script.since(begin, 0);
    EXPECT_TRUE(excerpt.has_value());
    script.repeat(*excerpt, {1, 0});
    std::string text;
    for (const ExcerptPart& part :
         cut(script, script.repeats().front(), [&](const Action& call) { return is_sum(script, call); })) {
        if (part.entries.empty()) text += fmt::format("{}..{} ", part.begin, part.end);
        if (part.entries.empty()) continue;
        for (const RoutineEntry& entry : part.entries) {
            text += fmt::format("{}{}", entry.action == part.begin ? "[" : " ", entry.action);
            if (entry.beside) text += fmt::format("+{}", *entry.beside);
        }
        text += "] ";
    }
    return text;
}

TEST(routine_cutter, takes_all_of_a_chain) {
    EXPECT_EQ(cut_twice([](Script& script, Where at) {
                  script.compute("a", {1}, at);
                  script.call(sum, at);
                  script.compute("b", {1}, at);
              }),
              "[0 1 2] ");
}

TEST(routine_cutter, leaves_out_calls_that_may_be_in_none_and_what_is_too_short) {
    EXPECT_EQ(cut_twice([](Script& script, Where at) {
                  script.compute("a", {1}, at);
                  script.call(other, at);
                  for (const char* name : {"b", "c", "d"}) script.compute(name, {1}, at);
                  script.call(other, at);
                  script.compute("e", {1}, at);
              }),
              "0..2 [2 3 4] 5..7 ");
}

TEST(routine_cutter, a_call_beside_a_computation_is_one_link_and_one_that_is_waited_for_at_once_is_another) {
    EXPECT_EQ(cut_twice([](Script& script, Where at) {
                  script.compute("a", {1}, at);
                  const ActionId beside = script.issue(sum, at, script.now());
                  script.compute("b", {1}, at);
                  script.wait(beside);
                  script.wait(script.issue(sum, at, script.now()));  // a join before it
                  script.compute("c", {1}, at);
              }),
              "[0 1+2 4 5 7] ");
}

TEST(routine_cutter, what_something_outside_refers_to_ends_a_routine) {
    EXPECT_EQ(cut_twice([](Script& script, Where at) {
                  for (const char* name : {"a", "b", "c"}) script.compute(name, {1}, at);
                  const ActionId early = script.now();
                  for (const char* name : {"d", "e", "f"}) script.compute(name, {1}, at);
                  script.wait(script.issue(other, at, early));
                  script.compute("g", {1}, at);
              }),
              "[0 1 2] [3 4 5] 6..9 ");
}

TEST(routine_cutter, a_call_that_is_waited_for_late_is_left_out) {
    EXPECT_EQ(cut_twice([](Script& script, Where at) {
                  for (const char* name : {"a", "b", "c"}) script.compute(name, {1}, at);
                  const ActionId late = script.issue(sum, at, script.now());
                  for (const char* name : {"d", "e", "f"}) script.compute(name, {1}, at);
                  script.wait(late);
                  script.compute("g", {1}, at);
              }),
              "[0 1 2] 3..4 [4 5 6] 7..9 ");
}

TEST(routine_cutter, leaves_out_what_is_done_once_a_step) {
    EXPECT_EQ(cut_twice([](Script& script, Where at) {
                  for (const char* name : {"a", "b", "c"}) script.compute(name, {1}, at);
                  script.compute("once", {1}, {});
              }),
              "[0 1 2] 3..4 ");
}

}  // namespace
}  // namespace weft
