// Scripts are read, not run: what their variables, arrays and conditions come to.
#include "workloads/formats/shell/shell.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace weft {
namespace {

ShellScript script_of(const std::string& text, const std::vector<std::string>& given = {}) {
    ShellVariables variables("s.sh", given);
    return read_shell_script({"s.sh", text}, variables);
}

// The words with "|" between them; "?NAME" for what is not known.
std::string joined(const std::vector<ShellWord>& words) {
    std::vector<std::string> texts;
    for (const ShellWord& word : words) {
        const auto names = unknown_names(word.text);
        texts.push_back(names.empty() ? word.text : fmt::format("?{}", fmt::join(names, "?")));
    }
    return fmt::format("{}", fmt::join(texts, "|"));
}

std::string last_command(const std::string& text, const std::vector<std::string>& given = {}) {
    const ShellScript script = script_of(text, given);
    return script.commands.empty() ? std::string() : joined(script.commands.back().words);
}

struct Case {
    std::string text, words;
    std::vector<std::string> given{};
};

void expect_last(const std::vector<Case>& cases) {
    for (const Case& each : cases) EXPECT_EQ(last_command(each.text, each.given), each.words) << each.text;
}

TEST(shell_script, words_are_cut_and_quoted_as_bash_does) {
    expect_last({
        {"A='x y'\nrun $A \"$A\" '$A' ${A}z", "run|x|y|x y|$A|x|yz"},
        {"A=\"--a\\\n --b\"\nA+=\" --c\"\nrun $A \"$@\"", "run|--a|--b|--c"},
        {"run a\\\n b \\\r\n c\\ d", "run|a|b|c d"},
        {"run \"a\\\"b\\$c\\d\" 'e\\f' g\\\"h", "run|a\"b$c\\d|e\\f|g\"h"},
        {"run '' \"\" $'x'", "run|||x"},
        {"run a # b\n# run c", "run|a"},
        {"run a#b $ cost$", "run|a#b|$|cost$"},
        {"export A=1 B=2; run $A$B > log 2>&1 | tee x\n", "tee|x"},
        {"run 1 2> log 3 >> more &> all < in", "run|1|3"},
        {"cat <<END > f\nit's \"(\nEND\nrun 1\n", "run|1"},
        {"cat > f <<-'END'\nrun 2\n\tEND\nrun 1\n", "run|1"},
        {"run --freq ([0]*2+[1, 1]*3) x", "run|--freq|([0]*2+[1, 1]*3)|x"},
        {"A=1; (run $A) &", "run|1"},
    });
}

TEST(shell_script, variables_and_arrays_are_expanded) {
    expect_last({
        {"A=(1 \"2 3\" # no\n 4)\nA+=(5)\nrun \"${A[@]}\" ${#A[@]} ${A[1]}", "run|1|2 3|4|5|4|2|3"},
        {"A=(1 '2 3')\nrun ${A[*]} \"${A[1]}\" ${A[7]}", "run|1|2|3|2 3"},
        {"A=()\nrun \"${A[@]}\" ${#B[@]}", "run|0"},
        {"A=1\nA+=2\nA+=(3)\nrun $A", "run|12|3"},
        {"run ${A:-${B-7}} ${C:+8} ${D=9} $D", "run|7|9|9"},
        {"A=\nrun ${A:-1} ${A-2} ${A+3} ${A:+4}", "run|1|3"},
        {"run \"${A:-\"--b\"} c\"", "run|--b c"},
        {"local A=1; readonly B=2; declare -i C=3; typeset D=4\nrun $A$B$C$D", "run|1234"},
        {"A=1 B=2 run $A", "run|1"},
        {"A=1\nunset A\nrun ${A-gone}", "run|gone"},
        {"run $M $1", "run|4|x", {"M=4", "1=x"}},
        {"M=3\nrun $M", "run|4", {"M=4"}},
        {"f() {\n A=1\n}\nfunction g {\n B=2\n}\nrun $A$B", "run|12"},
    });
}

TEST(shell_script, whole_numbers_are_computed) {
    expect_last({
        {"run x$((2 * (3+4) % 5 - -1))", "run|x5"},
        {"A=3 B=4\nrun $((A * $B + 1)) $((-7 / 2)) $((7 - 2 - 1)) $((A*(B-1)))", "run|13|-3|4|9"},
        {"run $((300 * 1000 * 1000 * 1000 / 2048))", "run|146484375"},
        {"run $((1 / 0)) $((1 +)) $((2 ** 3)) $((1.5))", "run|?|?|?|?"},
        {"run $((99999999 * 99999999 * 99999999))", "run|?"},
        {"A=x\nrun $((A * 2)) $((B * 2)) $(($C + 1))", "run|?|?B|?C"},
        {"A=(4 5)\nI=1\nrun ${A[I]} ${A[I - 1]} ${A[J]}", "run|5|4|?"},
    });
}

TEST(shell_script, what_is_not_known_is_called_by_its_name) {
    expect_last({
        {"N=$(hostname | wc -l)\nrun $N $M", "run|?N|?M"},
        {"N=`nproc`\nA=(1 $(date) 2)\nrun $N ${A[@]}", "run|?N|1|?A|2"},
        {"run $# $? ${!A} $$", "run|0|0|?|?"},
        {"A=llama_7B\nrun ${A,,} ${A%_*} ${A/_/-} ${B##*_} ${#A}", "run|?|?|?|?B|?"},
        {"read N\nrun $N", "run|?N"},
        {"for T in 1 2; do run --t $T; done", "run|--t|?T"},
        {"for T in 1 2; do A=$T; done\nrun $A", "run|7", {"T=7"}},
        {"A=3\nrun ${A:} $o", "run|?|?o"},  // Bash: bad substitution
        {"while getopts l: o; do L=$OPTARG; done\nrun ${L:-3} $o", "run|?L|?o"},
        {"while [[ $# -gt 0 ]]; do A=$2; shift; done\nA=${A:-3}\nrun $A", "run|3"},
        {"while true; do N=1; done\nrun $N", "run|?N"},
        {"V=0\ncase $K in\n a|b*) V=1;;\n *) V=2 ;;\nesac\nrun $V", "run|?V"},
        {"L=5\nif [ -f there ]; then L=6; fi\nrun $L", "run|?L"},
        {"L=5\nif (( L > 4 )); then L=6; fi\nrun $L", "run|?L"},
        {"if which python; then L=6; else L=7; fi\nrun $L", "run|?L"},
        {"A=(1)\nif [ -d x ]; then A+=(2); fi\nrun ${A[@]}", "run|1|?A"},
    });
}

TEST(shell_script, conditions_are_followed_where_they_are_known) {
    const std::string sizes =
        "if [ $S -eq 7 ]; then L=32\nelif [[ $S == 70 && 1 -lt 2 ]]; then L=80; else L=1; fi\nrun $L";
    expect_last({
        {"S=7\n" + sizes, "run|32"},
        {"S=70\n" + sizes, "run|80"},
        {"S=8\n" + sizes, "run|1"},
        {sizes, "run|?S"},
        {"A=1\n[ -z \"$B\" ] && A=2\n[[ -n $B ]] || C=3\nrun $A $C", "run|2|3"},
        {"A=1\nif ! false; then A=2; fi\nif [ ! -z \"$A\" ]; then B=3; fi\nrun $A $B", "run|2|3"},
        {"if [ 1 -eq 1 ]\nthen\n if [ 2 -eq 1 ]\n then A=1\n else A=2\n fi\nfi\nrun $A", "run|2"},
        {"A=1\nif [ 1 -eq 2 ] || [ 3 -gt 2 ]; then A=2; fi\nrun $A", "run|2"},
        {"A=1\nif ([ 1 -eq 1 ] || [ $S -eq 1 ]) && [ 2 -eq 3 ]; then A=2; fi\nrun $A", "run|1"},
        {"A=1\nif [ $S -eq 1 ] && [ 2 -eq 3 ]; then A=2; fi\nrun $A", "run|1"},
        {"A=1\nif [[ $S -eq 1 || 2 -eq 2 ]]; then A=2; fi\nrun $A", "run|2"},
        {"if [ a = a -a b != b ]; then A=1; else A=2; fi\nrun $A", "run|2"},
        {"if test \"$M\" = \"\"; then A=1; else A=2; fi\nrun $A", "run|1"},
        {"mkdir -p x && cd x || exit 1\nrun 1", "run|1"},
        {"run 1\nfalse && run 2", "run|1"},
        {"run 1\n[ 1 -eq 1 ] || run 2", "run|1"},
        {"fi\ndone\n;;\nrun 1\n}", "run|1"},
    });
}

TEST(shell_script, each_comparison_of_numbers_and_texts_holds_as_in_bash) {
    for (const auto& [how, less, equal, more] :
         std::vector<std::tuple<std::string, bool, bool, bool>>{{"-eq", false, true, false},
                                                                {"-ne", true, false, true},
                                                                {"-lt", true, false, false},
                                                                {"-le", true, true, false},
                                                                {"-gt", false, false, true},
                                                                {"-ge", false, true, true},
                                                                {"==", false, true, false},
                                                                {"!=", true, false, true}}) {
        const auto holds = [how = how](int a, int b) {
            return last_command(fmt::format("A=0\nif [[ {} {} {} ]]; then A=1; fi\nrun $A", a, how, b)) == "run|1";
        };
        EXPECT_EQ(holds(-2, 10), less) << how;
        EXPECT_EQ(holds(10, 10), equal) << how;
        EXPECT_EQ(holds(10, -2), more) << how;
    }
    // A pattern, a word that is no number, and tests of files are not known.
    for (const std::string condition : {"[[ llama == l* ]]", "[ a -lt 3 ]", "[ -f x ]", "[[ a =~ b ]]", "[ a b c d ]"})
        EXPECT_EQ(last_command("A=0\nif " + condition + "; then A=1; fi\nrun $A"), "run|?A") << condition;
}

TEST(shell_script, commands_lists_sources_and_directives_are_told_apart) {
    const ShellScript script = script_of(
        "#SBATCH --nodes=4\n#  SBATCH --no\nsource conf.sh\n. more.sh\nA=(--a 1)\nB=' --b 2'\nC=c\n"
        "echo --x 1\nif [ -f y ]; then\n  run $A\nfi\nrun --z 1\n");
    ASSERT_EQ(script.directives.size(), 1U);
    EXPECT_EQ(script.directives[0].text, "--nodes=4");
    EXPECT_EQ(script.directives[0].line, 1);
    EXPECT_EQ(script.sourced, (std::vector<std::string>{"conf.sh", "more.sh"}));
    ASSERT_EQ(script.lists.size(), 2U);
    EXPECT_EQ(joined(script.lists[0]), "--a|1");
    ASSERT_EQ(script.commands.size(), 4U) << "with those that read files";
    EXPECT_FALSE(script.commands[2].certain);
    EXPECT_EQ(script.commands[2].words[0].line, 10);
    EXPECT_TRUE(script.commands[3].certain);
}

std::string refusal(const std::string& text) {
    try {
        last_command(text);
    } catch (const ConfigError& error) {
        return std::string(error.what());
    }
    return std::string("read");
}

std::string repeated(std::string_view part, int times) {
    std::string text;
    for (int i = 0; i < times; ++i) text += part;
    return text;
}

TEST(shell_script, a_cut_script_is_refused_at_its_line) {
    EXPECT_EQ(refusal("x\ny 'z"), "s.sh:2: error: a quotation is not closed");
    EXPECT_EQ(refusal("x\n\ny \"z"), "s.sh:3: error: a quotation is not closed");
    EXPECT_EQ(refusal("x\ny ${z"), "s.sh:2: error: an expansion is not closed");
    EXPECT_EQ(refusal("x\ny $(z"), "s.sh:2: error: an expansion is not closed");
    EXPECT_EQ(refusal("A=(1 2"), "s.sh:1: error: the array \"A=(\" is not closed");
    EXPECT_EQ(refusal("x\nif [ 1"), "read");
    EXPECT_EQ(refusal("cat <<END\nx"), "read");
}

TEST(shell_script, a_hostile_script_is_refused_or_read_soon) {
    EXPECT_NE(refusal("A=ab\n" + repeated("A=$A$A\n", 100)).find("more text than any script"), std::string::npos);
    EXPECT_NE(refusal(repeated("if [ 1 ]; then ", 200'000)).find("nested too deeply"), std::string::npos);
    EXPECT_NE(refusal("A=" + repeated("${B:-", 100) + repeated("}", 100)).find("nested too deeply"), std::string::npos);
    EXPECT_NE(refusal(repeated("x\n", 20'001)).find("s.sh:20001: error: has more commands"), std::string::npos);
    EXPECT_EQ(refusal("X=$((" + repeated("(", 200'000) + repeated(")", 200'000) + "))"), "read");
    EXPECT_EQ(refusal(repeated("! ", 200'000) + repeated("case ", 60) + repeated("&& ", 200'000)), "read");
    EXPECT_EQ(refusal("X=$((" + repeated("-", 200'000) + "1))"), "read");
}

RC_GTEST_PROP(shell_script, any_words_are_read_or_refused, ()) {
    const auto words = *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
        "if", "then", "else", "elif", "fi", "for", "while", "do", "done", "case", "in", "esac", ";;", ";", "\n", "&&",
        "||", "!", "[", "]", "[[", "]]", "A=1", "A=(", ")", "(", "$A", "${A[@]}", "\"$@\"", "-eq", "export", "{", "}",
        "function", "f()", "x", "--a", "<<", ">", "#", "$((A+1))", "'", "\"", "\\\n"));
    RC_ASSERT(!refusal(fmt::format("{}", fmt::join(words, " "))).empty());
}

}  // namespace
}  // namespace weft
