// Scripts are read, not run: what their variables, arrays and conditions come to.
#include "workloads/formats/shell/script.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "workloads/formats/shell/words.hpp"

namespace weft {
namespace {

// The words of the last command, "|" between them; "?NAME" for what is not known.
std::string last_command(const std::string& text, std::vector<std::string> given = {}) {
    ShellVariables variables("s.sh", given);
    const ShellScript script = read_shell_script({"s.sh", text}, variables);
    if (script.commands.empty()) return {};
    std::vector<std::string> words;
    for (const ShellWord& word : script.commands.back().words) {
        const auto names = unknown_names(word.text);
        words.push_back(names.empty() ? word.text : fmt::format("?{}", fmt::join(names, "?")));
    }
    return fmt::format("{}", fmt::join(words, "|"));
}

TEST(shell_script, variables_arrays_and_quotes_are_expanded_as_bash_does) {
    EXPECT_EQ(last_command("A='x y'\nrun $A \"$A\" '$A' ${A}z"), "run|x|y|x y|$A|x|yz");
    EXPECT_EQ(last_command("A=(1 \"2 3\" # no\n 4)\nA+=(5)\nrun \"${A[@]}\" ${#A[@]} ${A[1]}"), "run|1|2 3|4|5|4|2|3");
    EXPECT_EQ(last_command("A=\"--a\\\n --b\"\nA+=\" --c\"\nrun $A \"$@\""), "run|--a|--b|--c");
    EXPECT_EQ(last_command("run ${A:-${B-7}} ${C:+8} x$((2 * (3+4) % 5 - -1))"), "run|7|x5");
    EXPECT_EQ(last_command("A=llama_7B\nrun ${A,,} ${A%_*} ${A##*_}"), "run|llama_7b|llama|7B");
    EXPECT_EQ(last_command("export A=1 B=2; run $A$B > log 2>&1 | tee x\n"), "tee|x");
    EXPECT_EQ(last_command("cat <<END > f\nit's \"(\nEND\nrun 1\n"), "run|1");
}

TEST(shell_script, what_is_not_known_is_called_by_its_name) {
    EXPECT_EQ(last_command("N=$(hostname | wc -l)\nrun $N $M"), "run|?N|?M");
    EXPECT_EQ(last_command("run $((A * 2))"), "run|?A");
    EXPECT_EQ(last_command("run $M $1", {"M=4", "1=x"}), "run|4|x");
    EXPECT_EQ(last_command("M=3\nrun $M", {"M=4"}), "run|4");
}

TEST(shell_script, conditions_are_followed_where_they_are_known) {
    const std::string script =
        "if [ $S -eq 7 ]; then L=32\nelif [[ $S == 70 && 1 -lt 2 ]]; then L=80; else L=1; fi\nrun $L";
    EXPECT_EQ(last_command("S=7\n" + script), "run|32");
    EXPECT_EQ(last_command("S=70\n" + script), "run|80");
    EXPECT_EQ(last_command("S=8\n" + script), "run|1");
    EXPECT_EQ(last_command(script), "run|?S");
    EXPECT_EQ(last_command("L=5\nif [ -f there ]; then L=6; fi\nrun $L"), "run|?L");
    EXPECT_EQ(last_command("A=1\n[ -z \"$B\" ] && A=2\n[[ -n $B ]] || C=3\nrun $A $C"), "run|2|3");
    EXPECT_EQ(last_command("case $K in\n a|b*) V=1;;\n *) V=2 ;;\nesac\nrun $V", {"K=bc"}), "run|1");
    EXPECT_EQ(last_command("for T in 1 2; do run --t $T; done"), "run|--t|?T");
    EXPECT_EQ(last_command("while [[ $# -gt 0 ]]; do A=$2; shift; done\nA=${A:-3}\nrun $A"), "run|3");
    EXPECT_EQ(last_command("f() {\n run 1\n}\nif ! false; then run 2; fi"), "run|2");
}

TEST(shell_script, a_cut_or_hostile_script_is_refused_at_its_line) {
    const auto refusal = [](const std::string& text) {
        try {
            last_command(text);
        } catch (const ConfigError& error) {
            return std::string(error.what());
        }
        return std::string("read");
    };
    EXPECT_EQ(refusal("x\ny 'z"), "s.sh:2: error: a quotation is not closed");
    EXPECT_EQ(refusal("A=(1 2"), "s.sh:1: error: the array \"A=(\" is not closed");
    std::string doubled = "A=ab\n", nested;
    for (int i = 0; i < 100; ++i) doubled += "A=$A$A\n";
    EXPECT_NE(refusal(doubled).find("more text than any script"), std::string::npos);
    for (int i = 0; i < 200'000; ++i) nested += "if [ 1 ]; then ";
    EXPECT_NE(refusal(nested).find("nested too deeply"), std::string::npos);
    EXPECT_EQ(refusal("X=$((" + std::string(200'000, '(') + std::string(200'000, ')') + "))"), "read");
}

}  // namespace
}  // namespace weft
