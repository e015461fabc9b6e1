// Conditions of scripts: three values, joined as Bash does.
#include "workloads/formats/shell/shell.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace weft {
namespace {

using Holds = ShellCondition::Holds;

ShellCondition unknown(const std::string& why) { return {Holds::unknown, why}; }

TEST(shell_condition, what_decides_alone_is_known_whatever_the_other_is) {
    for (const Holds a : {Holds::no, Holds::yes, Holds::unknown}) {
        for (const Holds b : {Holds::no, Holds::yes, Holds::unknown}) {
            const Holds all = a == Holds::no || b == Holds::no     ? Holds::no
                              : a == Holds::yes && b == Holds::yes ? Holds::yes
                                                                   : Holds::unknown;
            const Holds any = a == Holds::yes || b == Holds::yes ? Holds::yes
                              : a == Holds::no && b == Holds::no ? Holds::no
                                                                 : Holds::unknown;
            EXPECT_EQ(both({a}, {b}).holds, all);
            EXPECT_EQ(either({a}, {b}).holds, any);
        }
    }
    EXPECT_EQ(negated(ShellCondition::always()).holds, Holds::no);
    EXPECT_EQ(negated(ShellCondition::never()).holds, Holds::yes);
}

TEST(shell_condition, says_which_variable_would_decide) {
    EXPECT_EQ(negated(unknown("A")).why, "A");
    EXPECT_EQ(both(unknown("A"), ShellCondition::always()).why, "A");
    EXPECT_EQ(both(ShellCondition::always(), unknown("B")).why, "B");
    EXPECT_EQ(either(ShellCondition::never(), unknown("B")).why, "B");
    EXPECT_EQ(both(unknown("A"), unknown("B")).why, "A");
}

struct Test {
    std::vector<std::string> words;
    Holds holds;
};
class shell_test_words : public ::testing::TestWithParam<Test> {};
TEST_P(shell_test_words, hold_as_in_bash) { EXPECT_EQ(shell_test(GetParam().words).holds, GetParam().holds); }
INSTANTIATE_TEST_SUITE_P(shell, shell_test_words,
                         ::testing::ValuesIn(std::vector<Test>{{{}, Holds::no},
                                                               {{""}, Holds::no},
                                                               {{"x"}, Holds::yes},
                                                               {{"!", "x"}, Holds::no},
                                                               {{"!", "!", "x"}, Holds::yes},
                                                               {{"-z", ""}, Holds::yes},
                                                               {{"-n", ""}, Holds::no},
                                                               {{"-f", "file"}, Holds::unknown},
                                                               {{"a", "=", "a"}, Holds::yes},
                                                               {{"a", "==", "b"}, Holds::no},
                                                               {{"a", "!=", "b"}, Holds::yes},
                                                               {{"ab", "==", "a*"}, Holds::unknown},
                                                               {{"2", "-lt", "10"}, Holds::yes},
                                                               {{"two", "-lt", "10"}, Holds::unknown},
                                                               {{"1", "-eq", "1", "-a", "2", "-eq", "3"}, Holds::no},
                                                               {{"1", "-eq", "1", "-o", "2", "-eq", "3"}, Holds::yes},
                                                               {{"1", "-eq", "2", "||", "x", "&&", ""}, Holds::no},
                                                               {{unknown_part("N"), "-eq", "1"}, Holds::unknown},
                                                               {{unknown_part("N", true), "==", ""}, Holds::yes},
                                                               {{"-z", unknown_part("N", true)}, Holds::yes}}));

TEST(shell_condition, of_a_variable_that_is_not_known_names_it) {
    const std::vector<std::string> words{unknown_part("N"), "-gt", "1"};
    EXPECT_EQ(shell_test(words).why, "N");
}

}  // namespace
}  // namespace weft
