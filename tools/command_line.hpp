// From the words of the command line to a running command.
#pragma once

#include <array>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tools/command.hpp"

namespace weft {

// The command line asks for something that does not exist. what() says what, and where to read on.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The file <name>.help of a command, part by part (tools/command.hpp).
struct CommandHelp {
    std::string_view usage, summary, details, options;  // summary: one line for `weft --help`
};
CommandHelp help_of(const Command& command);

// The options of a command (--help among them) and which of them are positional.
struct CommandOptions {
    po::options_description all;
    po::positional_options_description positional;
};
CommandOptions options_of(const Command& command);
bool is_positional(const CommandOptions& options, std::string_view name);
std::vector<std::string> option_names(const CommandOptions& options);  // "--json", ...; none of positional ones

const Command& find_command(std::string_view name);  // throws UsageError with the nearest names

// The words behind a command's name as its options. Throws UsageError.
po::variables_map parse_arguments(const Command& command, std::span<const char* const> arguments);

struct ExitMeaning {
    Exit code;
    std::string_view meaning;
};
inline constexpr std::array exit_meanings = std::to_array<ExitMeaning>({
    {Exit::ok, "ok"},
    {Exit::mismatch, "mismatch"},
    {Exit::usage, "usage"},
    {Exit::bad_input, "bad input"},
    {Exit::does_not_fit, "does not fit in memory"},
    {Exit::internal, "internal error"},
    {Exit::interrupted, "interrupted"},
});

std::string program_help();
std::string command_help(const Command& command);

// Runs `arguments` (without the program's name), or prints the help or version they ask for. Throws UsageError, and
// whatever the command throws.
Exit run_command_line(std::span<const char* const> arguments);

}  // namespace weft
