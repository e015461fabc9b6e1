#include "tools/command_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <sstream>
#include <utility>

#include "sim/io/diagnostics.hpp"
#include "tools/version.hpp"

namespace weft {
namespace {

constexpr std::array group_titles = std::to_array<std::pair<CommandGroup, std::string_view>>({
    {CommandGroup::run, "Simulate"},
    {CommandGroup::inspect, "Look closer"},
    {CommandGroup::exchange, "Other tools' formats"},
    {CommandGroup::other, "More"},
});

constexpr std::array meanings_of_exits = std::to_array<ExitMeaning>({
    {Exit::ok, "ok"},
    {Exit::mismatch, "mismatch"},
    {Exit::usage, "usage"},
    {Exit::bad_input, "bad input"},
    {Exit::does_not_fit, "does not fit in memory"},
    {Exit::internal, "internal error"},
    {Exit::interrupted, "interrupted"},
});

std::string capitals(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? char(c - 32) : c; });
    return text;
}

Exit print(std::string_view text) {
    std::cout << text;
    return Exit::ok;
}

}  // namespace

CommandOptions options_of(const Command& command) {
    CommandOptions options;
    command.options(options.all, options.positional);
    options.all.add_options()("help,h", "show this help");
    return options;
}

bool is_positional(const CommandOptions& options, std::string_view name) {
    constexpr unsigned looked_at = 16;  // an endless list repeats its last name
    const unsigned last = std::min(options.positional.max_total_count(), looked_at);
    for (unsigned position = 0; position < last; ++position) {
        if (options.positional.name_for_position(position) == name) return true;
    }
    return false;
}

std::vector<std::string> option_names(const CommandOptions& options) {
    std::vector<std::string> names;
    for (const auto& option : options.all.options()) {
        if (!is_positional(options, option->long_name())) names.push_back("--" + option->long_name());
    }
    return names;
}

const Command& find_command(std::string_view name) {
    std::vector<std::string> known;
    for (const Command* command : commands::all()) {
        if (command->name == name) return *command;
        known.emplace_back(command->name);
    }
    throw UsageError(fmt::format("unknown command \"{}\"{}\nsee weft --help", name, suggestion(name, known)));
}

// Translates Boost's complaints into ours: shorter, with the nearest names.
po::variables_map parse_arguments(const Command& command, std::span<const char* const> arguments) {
    const CommandOptions options = options_of(command);
    const auto refuse = [&](const std::string& what) {
        throw UsageError(fmt::format("{}\nusage: {}\nsee weft {} --help", what, command.usage, command.name));
    };
    po::variables_map values;
    try {
        const std::vector<std::string> words(arguments.begin(), arguments.end());
        constexpr int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
        po::store(po::command_line_parser(words).options(options.all).positional(options.positional).style(style).run(),
                  values);
        if (!values.contains("help")) po::notify(values);
    } catch (const po::unknown_option& error) {
        const std::string name = error.get_option_name();
        refuse(fmt::format("unknown option \"{}\"{}", name, suggestion(name, option_names(options))));
    } catch (const po::too_many_positional_options_error&) {
        refuse("too many arguments");
    } catch (const po::required_option& error) {
        std::string name = error.get_option_name();
        name.erase(0, name.find_first_not_of('-'));
        refuse(is_positional(options, name) ? capitals(name) + " is missing" : "option --" + name + " is missing");
    } catch (const po::error& error) {
        refuse(error.what());
    }
    return values;
}

std::span<const ExitMeaning> exit_meanings() { return meanings_of_exits; }

std::string program_help() {
    std::string text =
        "weft simulates training steps of a transformer on a real machine: how long a step takes, where the time\n"
        "goes, what crosses which link, and whether it fits in memory.\n\n"
        "usage: weft COMMAND [arguments]\n";
    for (const auto& [group, title] : group_titles) {
        std::string lines;
        for (const Command* command : commands::all()) {
            if (command->group == group) lines += fmt::format("  {:<12} {}\n", command->name, command->summary);
        }
        if (!lines.empty()) text += fmt::format("\n{}:\n{}", title, lines);
    }
    std::string exits;
    for (const auto& [code, meaning] : exit_meanings()) {
        exits += fmt::format("{}{} {}", exits.empty() ? "" : ", ", static_cast<int>(code), meaning);
    }
    return text +
           "\n  weft COMMAND --help   arguments and examples of a command\n"
           "  weft --version        print the version\n\n"
           "exit codes: " +
           exits + "\n";
}

std::string command_help(const Command& command) {
    const CommandOptions options = options_of(command);
    po::options_description visible("options", 110, 55);
    for (const auto& option : options.all.options()) {
        if (!is_positional(options, option->long_name())) visible.add(option);
    }
    std::ostringstream text;
    text << "usage: " << command.usage << "\n\n" << command.summary << "\n\n";
    if (!command.details.empty()) text << command.details << (command.details.ends_with('\n') ? "\n" : "\n\n");
    text << visible;
    return text.str();
}

Exit run_command_line(std::span<const char* const> arguments) {
    if (arguments.empty()) throw UsageError("no command given\n\n" + program_help());
    const std::string_view first = arguments.front();
    if (first == "--version") return print(fmt::format("weft {}\n", version));
    if (first == "--help" || first == "-h" || (first == "help" && arguments.size() == 1)) return print(program_help());
    if (first == "help") return print(command_help(find_command(arguments[1])));
    const Command& command = find_command(first);
    const po::variables_map values = parse_arguments(command, arguments.subspan(1));
    if (values.contains("help")) return print(command_help(command));
    try {
        return command.run(values);
    } catch (const po::error& error) {  // an argument that only the command could judge
        throw UsageError(fmt::format("{}\nsee weft {} --help", error.what(), command.name));
    }
}

}  // namespace weft
