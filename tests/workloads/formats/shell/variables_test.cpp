// Variables of scripts, and what words come to with them.
#include <gtest/gtest.h>

#include "tests/refusal.hpp"
#include "workloads/formats/shell/shell.hpp"

namespace weft {
namespace {

using Texts = std::vector<std::string>;

ShellVariables variables(Texts given = {}) { return {"s.sh", given}; }

TEST(shell_variables, that_the_user_gives_win_over_the_scripts_own) {
    ShellVariables all = variables({"N=4", "E=", "P=a=b"});
    all.assign("N", {"5"});
    all.assign("N", {"6"}, true);
    all.unset("N");
    EXPECT_EQ(all.value("N"), "4");
    EXPECT_TRUE(all.is_given("N"));
    EXPECT_TRUE(all.is_set("E"));
    EXPECT_EQ(all.value("E"), "");
    EXPECT_EQ(all.value("P"), "a=b");
    all.assign("M", {"1"});
    EXPECT_FALSE(all.is_given("M"));
    all.unset("M");
    EXPECT_FALSE(all.is_set("M"));
    EXPECT_TRUE(all.list("M").empty());
}

TEST(shell_variables, are_given_as_a_name_and_a_value) {
    for (const std::string said : {"N", "=4", ""})
        EXPECT_EQ(test::refusal_of([&] { variables({said}); }),
                  "--variable: error: expected NAME=VALUE, got \"" + said + "\"");
}

TEST(shell_variables, that_are_arrays_grow_at_their_end) {
    ShellVariables all = variables();
    all.assign("A", {"1", "2 3"});
    all.assign("A", {"4"}, true);
    EXPECT_EQ(all.list("A"), (Texts{"1", "2 3", "4"}));
    EXPECT_EQ(all.value("A"), "1 2 3 4");
    EXPECT_EQ(all.words("\"${A[@]}\"", 1), (Texts{"1", "2 3", "4"}));
    EXPECT_EQ(all.words("x${A[1]}y", 1), (Texts{"x2", "3y"})) << "split at the blank, as Bash does";
    EXPECT_EQ(all.words("\"x${A[1]}y\"", 1), (Texts{"x2 3y"}));
    EXPECT_EQ(all.words("${A[9]}", 1), Texts{}) << "beyond the end there is nothing";
    EXPECT_EQ(all.text("${#A[@]}", 1), "3");
}

TEST(shell_expansions, of_nothing_are_none_and_of_empty_quotations_one) {
    ShellVariables all = variables({"E="});
    all.assign("L", {});
    EXPECT_EQ(all.words("$E", 1), Texts{});
    EXPECT_EQ(all.words("\"$E\"", 1), Texts{""});
    EXPECT_EQ(all.words("''", 1), Texts{""});
    EXPECT_EQ(all.words("\"${L[@]}\"", 1), Texts{});
    EXPECT_EQ(all.words("\"$@\"", 1), Texts{});
    EXPECT_EQ(all.words("\"${@}\"", 1), Texts{});
    EXPECT_EQ(all.words("a$E", 1), Texts{"a"});
    EXPECT_EQ(variables({"@=x"}).words("\"$@\"", 1), Texts{"x"});
}

TEST(shell_expansions, have_defaults_by_the_sign_behind_a_name) {
    ShellVariables all = variables({"E=", "S=s"});
    for (const auto& [word, text] : {std::pair{"${S-d}", "s"},
                                     {"${S:-d}", "s"},
                                     {"${E-d}", ""},
                                     {"${E:-d}", "d"},
                                     {"${S+d}", "d"},
                                     {"${E+d}", "d"},
                                     {"${E:+d}", ""},
                                     {"${G+d}", ""},
                                     {"${G-$S}", "s"},
                                     {"${S:?gone}", "s"}})
        EXPECT_EQ(all.text(word, 1), text) << word;
    EXPECT_EQ(all.words("${G:-a}/b$S", 1), Texts{"a/bs"}) << "a default is a part of its word";
    EXPECT_EQ(all.words("x${G:-a b}c", 1), (Texts{"xa", "bc"})) << "split at the blank, as Bash does";
    EXPECT_EQ(all.words("\"x${G:-a b}c\"", 1), Texts{"xa bc"});
    EXPECT_EQ(all.text("${N:=9}", 1), "9");
    EXPECT_EQ(all.value("N"), "9") << "\"=\" sets it, too";
    EXPECT_EQ(unknown_names(all.text("${G:?gone}", 1)), Texts{"G"});
    EXPECT_EQ(unknown_names(all.text("${S%/*}", 1)), Texts{""}) << "set: no value of a variable would help";
    EXPECT_EQ(unknown_names(all.text("${G%/*}", 1)), Texts{"G"});
}

TEST(shell_expansions, quoted_by_either_sign_are_as_they_stand) {
    ShellVariables all = variables({"N=4"});
    EXPECT_EQ(all.text("'$N'", 1), "$N");
    EXPECT_EQ(all.text("\"'$N'\"", 1), "'4'");
    EXPECT_EQ(all.text("$'N'", 1), "N");
    EXPECT_EQ(all.text("\\$N", 1), "$N");
    EXPECT_EQ(all.text("\"\\N \\$N \\\\\"", 1), "\\N $N \\") << "in double quotes most signs keep their stroke";
}

TEST(shell_arithmetic, is_of_whole_numbers_and_of_variables_by_their_names) {
    ShellVariables all = variables({"N=4", "M=-3", "T=two"});
    for (const auto& [expression, value] : {std::pair{"1 + 2 * 3", "7"},
                                            {"(1 + 2) * 3", "9"},
                                            {"N * $N", "16"},
                                            {"-N - M", "-1"},
                                            {"7 % N", "3"},
                                            {"-7 / 2", "-3"},
                                            {"--2", "2"},
                                            {"0 * -1", "0"},
                                            {" 8 ", "8"}})
        EXPECT_EQ(all.arithmetic(expression, 1), value) << expression;
    for (const char* const none : {"", "1 +", "(1", "1 2", "T", "1 / 0", "5 % 0", "2.5", "9999999999999999"})
        EXPECT_TRUE(has_unknown(all.arithmetic(none, 1))) << none;
    EXPECT_EQ(unknown_names(all.arithmetic("N * G", 1)), Texts{"G"}) << "the one that would have to be given";
    EXPECT_EQ(unknown_names(all.arithmetic("$G + 1", 1)), Texts{"G"});
}

std::string last_words(const std::string& text) {
    ShellVariables all = variables();
    const ShellScript script = read_shell_script({"s.sh", text}, all);
    std::string words;
    if (script.commands.empty()) return words;
    for (const ShellWord& word : script.commands.back().words) {
        const Texts names = unknown_names(word.text);
        words += (words.empty() ? "" : "|") + (names.empty() ? word.text : "?" + names.front());
    }
    return words;
}

TEST(shell_commands, of_loops_and_blocks_are_read_as_they_may_run) {
    EXPECT_EQ(last_words("until false; do N=1; done\nrun $N"), "run|?N");
    EXPECT_EQ(last_words("select N in a b; do A=1; done\nrun $N"), "run|?N");
    EXPECT_EQ(last_words("{ A=1; }\nrun $A"), "run|1");
    EXPECT_EQ(last_words("time run 1"), "run|1");
    EXPECT_EQ(last_words("if false; then for N in 1 2; do A=1; done; fi\nrun ${N-none} ${A-none}"), "run|none|none");
    EXPECT_EQ(last_words("if [ -f x ]; then unset A; fi\nA=1\nif [ -f x ]; then unset A; fi\nrun $A"), "run|1")
        << "what may not run unsets nothing";
    EXPECT_EQ(last_words("A=1\nif [[ 1 -xx 2 ]]; then A=2; fi\nrun $A"), "run|?A") << "no such comparison";
    EXPECT_EQ(last_words("run 1 <<< word\n"), "run|1");
    EXPECT_EQ(last_words("run 1 >\nA=2\n"), "run|1");
    EXPECT_EQ(last_words("source\nrun 1"), "run|1");
}

}  // namespace
}  // namespace weft
