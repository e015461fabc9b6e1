// Prints a bash completion script, generated from the registry of commands.
#include <fmt/format.h>

#include <iostream>
#include <string>

#include "tools/command_line.hpp"

namespace weft::commands {
namespace {

void completion_options(po::options_description&, po::positional_options_description&) {}

std::string option_names(const Command& command) {
    const CommandOptions declared = options_of(command);
    std::string names;
    for (const auto& option : declared.all.options()) {
        names += (names.empty() ? "--" : " --") + option->long_name();
    }
    return names;
}

// Words that bash offers: commands first, then a command's options; anything else is left to its file completion.
constexpr std::string_view script = R"(_weft() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} words=""
    if ((COMP_CWORD == 1)); then
        words="{names} --help --version"
    elif [[ $current == -* ]]; then
        case ${{COMP_WORDS[1]}} in
{cases}        esac
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}}
complete -o default -F _weft weft
)";

Exit run_completion(const po::variables_map&) {
    std::string names;
    std::string cases;
    for (const Command* command : all()) {
        names += (names.empty() ? "" : " ") + std::string(command->name);
        cases += fmt::format("        {}) words=\"{}\" ;;\n", command->name, option_names(*command));
    }
    std::cout << fmt::format(script, fmt::arg("names", names), fmt::arg("cases", cases));
    return Exit::ok;
}

}  // namespace

extern const Command completion{
    .name = "completion",
    .summary = "print a completion script for bash",
    .usage = "weft completion",
    .details = "To use it in this shell:\n  source <(weft completion)",
    .options = completion_options,
    .run = run_completion,
    .group = CommandGroup::other,
};

}  // namespace weft::commands
