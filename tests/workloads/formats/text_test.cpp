#include "workloads/formats/keys.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace weft {
namespace {

TEST(format_text, lines_are_counted_from_1_until_one_is_refused) {
    std::vector<std::pair<int, std::string>> lines;
    const auto take = [&](std::string_view line, int number) {
        lines.emplace_back(number, line);
        return line != "stop";
    };
    each_line("a\n\nb", take);
    EXPECT_EQ(lines, (std::vector<std::pair<int, std::string>>{{1, "a"}, {2, ""}, {3, "b"}}));
    lines.clear();
    each_line("stop\nmore\n", take);
    EXPECT_EQ(lines.size(), 1U);
    lines.clear();
    each_line("", take);
    each_line("a\n", take);
    EXPECT_EQ(lines.size(), 1U);  // the end of the last line begins none
}

TEST(format_text, objects_begin_with_a_brace) {
    EXPECT_TRUE(is_json_object(" \r\n\t{"));
    for (const char* const other : {"", "  ", "[{}]", "a: {}"}) EXPECT_FALSE(is_json_object(other)) << other;
    EXPECT_EQ(lower_case("SwitchName=A1"), "switchname=a1");
    EXPECT_TRUE(contains("between two GPUs", "two"));
    EXPECT_FALSE(contains("", "two"));
}

// [35](e09d) "S-2c5e"[32] # "MF0;spine2" lid 236 4xNDR
TEST(format_text, a_line_is_taken_from_left_to_right) {
    TextScanner line("  [35](e09d) \t\"S-2c5e\"[32] # \"MF0;spine2\" lid 4xNDR\r");
    EXPECT_FALSE(line.take("]"));
    EXPECT_TRUE(line.take("["));
    EXPECT_EQ(line.number(), 35U);
    EXPECT_FALSE(line.number());
    EXPECT_EQ(line.until('('), "]");
    EXPECT_EQ(line.until(')'), "e09d");
    EXPECT_FALSE(line.until('%'));
    EXPECT_EQ(line.quoted(), "S-2c5e");
    EXPECT_EQ(line.word(), "[32]");
    EXPECT_EQ(line.quoted(), "MF0;spine2");
    EXPECT_EQ(line.word(), "lid");
    line.skip_blanks();
    EXPECT_EQ(line.rest(), "4xNDR\r");
    EXPECT_EQ(line.word(), "4xNDR");
    EXPECT_EQ(line.word(), "");
    EXPECT_FALSE(line.quoted());
}

}  // namespace
}  // namespace weft
