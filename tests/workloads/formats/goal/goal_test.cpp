// What GOAL schedules say, and what is wrong with them.
#include <gtest/gtest.h>

#include "tests/refusal.hpp"
#include "tests/workloads/recorded/traces.hpp"

namespace weft {
namespace {

TEST(goal, is_read_with_and_without_lines_labels_and_comments) {
    const RecordedProgram program = test::read_goal_text(
        "// made by hand\nnum_ranks 2\n"
        "rank 1 { l1: recv 8b from 0 tag 3 cpu 0 nic 1; calc 5; /* over\n two lines */ l1 requires l2\nl2: calc 7 cpu "
        "4 }\n"
        "rank 0 {\n# sends\nl1: send 8b to 1 tag 3\n}\n");
    const RecordedRank& rank = program.ranks[1];
    ASSERT_EQ(rank.nodes.size(), 3U);
    EXPECT_EQ(rank.nodes[0].kind, RecordedKind::receive);
    EXPECT_EQ(rank.nodes[0].tag, 3U);
    EXPECT_EQ(rank.nodes[0].bytes, 8_B);
    EXPECT_EQ(rank.nodes[0].id, 3U);
    EXPECT_EQ(rank.nodes[2].id, 5U);
    EXPECT_NEAR(rank.nodes[1].time.value, 5e-9, 1e-18);
    EXPECT_EQ(rank.units[rank.nodes[2].unit].name, "cpu 4");
    ASSERT_EQ(rank.dependencies.size(), 1U);
    EXPECT_EQ(rank.first_dependency[1], 1U);
    EXPECT_EQ(rank.dependencies[0].node, 2U);
}

TEST(goal, what_cannot_be_read_is_refused_with_its_line) {
    const std::pair<const char*, const char*> cases[] = {
        {"rank 0 { }", "is of no format"},
        {"num_ranks 0\nrank 0 { }", "schedule.goal:1: error: expected 1 to"},
        {"num_ranks 2\nrank 0 { }", "rank 1 is missing"},
        {"num_ranks 1\nrank 0 { }\nrank 0 { }", ":3: error: rank 0 is there twice"},
        {"num_ranks 1\nrank 0 {\n", "rank 0 is cut"},
        {"num_ranks 1\nrank 0 {\nl1: clac 5\n}", ":3: error: expected calc, send or recv, got \"clac\""},
        {"num_ranks 1\nrank 0 {\nl1: calc five\n}", ":3: error: expected nanoseconds, got \"five\""},
        {"num_ranks 1\nrank 0 {\nl1: send 99999999999999999999b to 0\n}", ":3: error: expected bytes such as 64b"},
        {"num_ranks 1\nrank 0 {\nl1: calc 5\nl1 requires l11\n}", ":4: error: label l11 is not set in this rank"},
        {"num_ranks 1\nrank 0 {\nl1: calc 5\nl1: calc 6\n}", ":4: error: label l1 is there twice"},
        {"num_ranks 1\nrank 0 {\n l1 wants l1\n}",
         ":3: error: expected \"l1: ...\" or \"l1 requires ...\", got \"wants\""},
        {"num_ranks 1\nrank 0 {\n}\nrank 1 { }", "rank 1: num_ranks says that there are 1"},
    };
    for (const auto& [text, words] : cases) {
        const std::string refusal = test::refusal_of([&, text = text] { test::read_goal_text(text); });
        EXPECT_NE(refusal.find(words), std::string::npos) << words << " is not in: " << refusal;
    }
}

}  // namespace
}  // namespace weft
