// What does not fit together in a recorded program is told before it runs, all at once, with file and node.
#include "workloads/recorded/checks.hpp"

#include <gtest/gtest.h>

#include "tests/refusal.hpp"
#include "tests/workloads/recorded/traces.hpp"

namespace weft {
namespace {

using test::after;
using test::ChakraFile;

struct Wrong {
    const char* what;
    std::vector<ChakraFile> files;
    std::vector<const char*> words;  // of the refusal
};
std::ostream& operator<<(std::ostream& out, const Wrong& each) { return out << each.what; }

const Wrong wrong[] = {
    {"operation",
     {ChakraFile().collective(5, 0, 64), ChakraFile().collective(6, 7, 64)},
     {"rank.1.et: error: node 6: is reduce_scatter, where rank.0.et: node 5 is all_reduce"}},
    {"size",
     {ChakraFile().collective(5, 0, 64), ChakraFile().collective(6, 0, 65)},
     {"rank.1.et: error: node 6: is of 65 bytes, where rank.0.et: node 5 is of 64"}},
    {"number",
     {ChakraFile().collective(5, 0, 64).collective(6, 0, 64), ChakraFile().collective(5, 0, 64)},
     {"rank.0.et: error: node 6: rank 1 of its group [0, 1] makes no call that it could meet"}},
    {"partners",
     {ChakraFile().send(5, 1, 8).send(6, 1, 8), ChakraFile().receive(7, 0, 8).receive(8, 1, 8)},
     {"rank.0.et: error: node 6: rank 1 receives nothing from rank 0 with tag 0",
      "rank.1.et: error: node 8: rank 1 sends nothing to rank 1 with tag 0"}},
    {"room",
     {ChakraFile().send(5, 1, 9), ChakraFile().receive(7, 0, 8)},
     {"rank.1.et: error: node 7: takes 8 bytes, where rank.0.et: node 5 sends 9"}},
    {"rank", {ChakraFile().send(5, 2, 8), ChakraFile()}, {"rank.0.et: error: node 5: rank 2 is missing: there are 2"}},
    {"circle",
     {ChakraFile().compute(1, 1, after(3)).compute(2, 1, after(1)).compute(3, 1, after(2))},
     {"rank.0.et: error: node", "waits in a circle for itself"}},
};

class recorded_checks : public ::testing::TestWithParam<Wrong> {};
TEST_P(recorded_checks, name_file_and_node) {
    const std::string refusal = test::refusal_of([] { meet(test::read_chakra_files(GetParam().files)); });
    for (const char* const words : GetParam().words) EXPECT_NE(refusal.find(words), std::string::npos) << refusal;
}
INSTANTIATE_TEST_SUITE_P(cases, recorded_checks, ::testing::ValuesIn(wrong));

TEST(recorded_checks, a_rank_without_a_file_is_missing) {
    const std::vector<SourceFile> files{{"a.0.et", ChakraFile().bytes}, {"a.2.et", ChakraFile().bytes}};
    const std::string refusal = test::refusal_of([&] { meet(read_recorded(std::span(files))); });
    EXPECT_NE(refusal.find("rank 1 is missing"), std::string::npos) << refusal;
}

TEST(recorded_checks, messages_meet_by_tag_and_in_order) {
    const RecordedProgram program = test::read_goal_text(
        "num_ranks 2\n"
        "rank 0 { a: send 1b to 1 tag 7 b: send 2b to 1 tag 9 c: send 3b to 1 tag 7 }\n"
        "rank 1 { d: recv 2b from 0 tag 9 e: recv 1b from 0 tag 7 f: recv 3b from 0 tag 7 }\n");
    const Meetings meetings = meet(program);
    for (const auto& [send, receive] : {std::pair(0U, 4U), std::pair(1U, 3U), std::pair(2U, 5U)}) {
        EXPECT_EQ(meetings.of_node[send], meetings.of_node[receive]);
        EXPECT_EQ(meetings.of(meetings.meetings[meetings.of_node[send]])[0], send);
    }
}

}  // namespace
}  // namespace weft
