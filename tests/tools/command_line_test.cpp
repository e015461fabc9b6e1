// The built program from outside: what it prints where, and its exit codes.
#include "tools/command_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

#include "tools/version.hpp"

namespace weft {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

struct Outcome {
    int code;
    std::string output;
};

// Runs a line of shell; $WEFT stands for the program.
Outcome shell(const std::string& line) {
    FILE* pipe = ::popen(("WEFT='" WEFT_PROGRAM "'\n" + line).c_str(), "r");
    if (pipe == nullptr) return {-1, "cannot start a shell"};
    std::string output;
    std::array<char, 4096> part{};
    for (std::size_t read = 1; read > 0;) {
        read = std::fread(part.data(), 1, part.size(), pipe);
        output.append(part.data(), read);
    }
    const int status = ::pclose(pipe);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), output};
}

Outcome standard_output(const std::string& arguments) { return shell("\"$WEFT\" " + arguments + " 2>/dev/null"); }
Outcome standard_error(const std::string& arguments) { return shell("\"$WEFT\" " + arguments + " 2>&1 >/dev/null"); }

TEST(command_line, help_lists_every_command_on_standard_output) {
    const Outcome outcome = standard_output("--help");
    EXPECT_EQ(outcome.code, 0);
    for (const Command* command : commands::all()) {
        EXPECT_THAT(outcome.output, HasSubstr("  " + std::string(command->name) + " ")) << "in weft --help";
        EXPECT_THAT(outcome.output, HasSubstr(std::string(command->summary) + "\n"));
    }
    EXPECT_THAT(standard_error("--help").output, IsEmpty());
}

TEST(command_line, version_is_one_line) {
    EXPECT_EQ(standard_output("--version").output, "weft " + std::string(version) + "\n");
}

TEST(command_line, no_command_is_a_mistake_answered_with_the_help) {
    EXPECT_EQ(standard_output("").output, "");
    EXPECT_EQ(standard_error("").code, 2);
    EXPECT_THAT(standard_error("").output, HasSubstr("usage: weft COMMAND"));
}

TEST(command_line, an_unknown_command_names_the_nearest) {
    const Outcome outcome = standard_error("completoin");
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.output, "error: unknown command \"completoin\", did you mean \"completion\"?\nsee weft --help\n");
}

class every_command : public ::testing::TestWithParam<const Command*> {
  protected:
    std::string name() const { return std::string(GetParam()->name); }
};

TEST_P(every_command, explains_itself) {
    const Outcome outcome = standard_output(name() + " --help");
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.output, StartsWith("usage: weft " + name()));
    EXPECT_THAT(outcome.output, HasSubstr("--help"));
    EXPECT_EQ(outcome.output, standard_output("help " + name()).output);
}

TEST_P(every_command, refuses_an_unknown_option_by_name) {
    const Outcome outcome = standard_error(name() + " --no-such-option-anywhere");
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.output, StartsWith("error: unknown option \"--no-such-option-anywhere\"\n"));
    EXPECT_THAT(outcome.output, HasSubstr("see weft " + name() + " --help"));
}

TEST_P(every_command, refuses_arguments_beyond_those_it_takes) {
    const unsigned taken = options_of(*GetParam()).positional.max_total_count();
    if (taken > 16) GTEST_SKIP() << "takes any number";
    std::string arguments;
    for (unsigned i = 0; i <= taken; ++i) arguments += " surplus";
    const Outcome outcome = standard_error(name() + arguments);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.output, StartsWith("error: too many arguments\n"));
}

INSTANTIATE_TEST_SUITE_P(command_line, every_command,
                         ::testing::ValuesIn(commands::all().begin(), commands::all().end()),
                         [](const auto& test) { return std::string(test.param->name); });

TEST(command_line, an_option_cut_short_is_not_guessed) {
    EXPECT_EQ(standard_error("completion --hel").output,
              "error: unknown option \"--hel\", did you mean \"--help\"?\nusage: weft completion\nsee weft completion "
              "--help\n");
}

TEST(command_line, output_that_nobody_reads_is_no_failure) {
    EXPECT_EQ(shell("exec 3>&1; { sleep 0.2; \"$WEFT\" --help 2>&3; echo $? >&3; } | true; sleep 0.5").output, "0\n");
}

TEST(command_line, output_that_cannot_be_written_is_a_failure) {
    EXPECT_EQ(shell("\"$WEFT\" --help 2>&1 >/dev/full; echo $?").output, "error: cannot write to standard output\n3\n");
}

TEST(command_line, completion_offers_commands_and_their_options) {
    const auto offered = [](const std::string& words, int current) {
        return shell("bash -c 'source <(\"$0\" completion); COMP_WORDS=(" + words +
                     "); COMP_CWORD=" + std::to_string(current) + "; _weft; echo \"${COMPREPLY[*]}\"' \"$WEFT\"")
            .output;
    };
    EXPECT_EQ(offered("weft comp", 1), "completion\n");
    EXPECT_EQ(offered("weft completion --h", 2), "--help\n");
    EXPECT_EQ(offered("weft completion fil", 2), "\n") << "file names are left to bash";
}

}  // namespace
}  // namespace weft
