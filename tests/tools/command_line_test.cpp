// The built program from outside: what it prints where, and its exit codes.
#include "tools/command_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "tests/tools/program.hpp"
#include "tools/version.hpp"

namespace weft {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

using test::Ran;
using test::run_weft;

// What a line of bash prints; $WEFT stands for the program.
std::string shell(const std::string& line) {
    FILE* pipe = ::popen(("WEFT='" WEFT_PROGRAM "'\n" + line).c_str(), "r");
    if (pipe == nullptr) return "cannot start a shell";
    std::string output;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) output += static_cast<char>(c);
    ::pclose(pipe);
    return output;
}

TEST(command_line, help_lists_every_command_on_standard_output) {
    const Ran ran = run_weft("--help");
    EXPECT_EQ(ran.exit_code, 0);
    for (const Command* command : commands::all()) {
        EXPECT_THAT(ran.out, HasSubstr("  " + std::string(command->name) + " ")) << "in weft --help";
        EXPECT_THAT(ran.out, HasSubstr(std::string(help_of(*command).summary) + "\n"));
    }
    EXPECT_THAT(ran.err, IsEmpty());
}

TEST(command_line, version_is_one_line) { EXPECT_EQ(run_weft("--version").out, "weft " + std::string(version) + "\n"); }

TEST(command_line, the_changes_begin_with_this_version_and_its_day) {
    const std::string changes = test::read_file(WEFT_SOURCE_DIR "/CHANGELOG.md");
    EXPECT_EQ(changes.find("## " + std::string(version) + " (" + std::string(released) + ")\n"), changes.find("## "));
}

TEST(command_line, no_command_is_a_mistake_answered_with_the_help) {
    const Ran ran = run_weft("");
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, HasSubstr("usage: weft COMMAND"));
}

TEST(command_line, an_unknown_command_names_the_nearest) {
    const Ran ran = run_weft("completoin");
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_EQ(ran.err, "error: unknown command \"completoin\", did you mean \"completion\"?\nsee weft --help\n");
}

class every_command : public ::testing::TestWithParam<const Command*> {
  protected:
    std::string name() const { return std::string(GetParam()->name); }
};

TEST_P(every_command, explains_itself) {
    const Ran ran = run_weft(name() + " --help");
    EXPECT_EQ(ran.exit_code, 0);
    EXPECT_THAT(ran.out, StartsWith("usage: weft " + name()));
    EXPECT_THAT(ran.out, HasSubstr("--help"));
    EXPECT_EQ(ran.out, run_weft("help " + name()).out);
}

TEST_P(every_command, refuses_an_unknown_option_by_name) {
    const Ran ran = run_weft(name() + " --no-such-option-anywhere");
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_THAT(ran.err, StartsWith("error: unknown option \"--no-such-option-anywhere\"\n"));
    EXPECT_THAT(ran.err, HasSubstr("see weft " + name() + " --help"));
}

TEST_P(every_command, refuses_arguments_beyond_those_it_takes) {
    const unsigned taken = options_of(*GetParam()).positional.max_total_count();
    if (taken > 16) GTEST_SKIP() << "takes any number";
    std::string arguments;
    for (unsigned i = 0; i <= taken; ++i) arguments += " surplus";
    const Ran ran = run_weft(name() + arguments);
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_THAT(ran.err, StartsWith("error: too many arguments\n"));
}

INSTANTIATE_TEST_SUITE_P(command_line, every_command,
                         ::testing::ValuesIn(commands::all().begin(), commands::all().end()),
                         [](const auto& test) { return std::string(test.param->name); });

TEST(command_line, an_option_cut_short_is_not_guessed) {
    EXPECT_EQ(run_weft("completion --hel").err,
              "error: unknown option \"--hel\", did you mean \"--help\"?\nusage: weft completion "
              "[bash|fish|zsh]\nsee weft completion --help\n");
}

TEST(command_line, output_that_nobody_reads_is_no_failure) {
    EXPECT_EQ(shell("exec 3>&1; { sleep 0.2; \"$WEFT\" --help 2>&3; echo $? >&3; } | true; sleep 0.5"), "0\n");
}

TEST(command_line, output_that_cannot_be_written_is_a_failure) {
    EXPECT_EQ(shell("\"$WEFT\" --help 2>&1 >/dev/full; echo $?"), "error: cannot write to standard output\n3\n");
}

TEST(command_line, completion_offers_commands_and_their_options) {
    const auto offered = [](const std::string& line) {
        return shell("bash -c 'source <(\"$0\" completion); COMP_LINE=\"$0 \"\"" + line +
                     "\"; COMP_POINT=${#COMP_LINE}; _weft; echo \"${COMPREPLY[*]}\"' \"$WEFT\"");
    };
    EXPECT_EQ(offered("comp"), "compare completion\n");
    EXPECT_EQ(offered("completion --h"), "--help\n");
    EXPECT_EQ(offered("completion "), "bash fish zsh\n");
    EXPECT_EQ(offered("simulate fil"), "\n") << "file names are left to bash";
    EXPECT_EQ(run_weft("completion ksh").exit_code, 2);
    EXPECT_EQ(run_weft("completion zsh surplus").exit_code, 2);
}

}  // namespace
}  // namespace weft
