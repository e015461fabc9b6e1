#include "tools/command_line.hpp"

#include <fmt/format.h>
#include <boost/algorithm/string/case_conv.hpp>

#include <algorithm>
#include <iostream>
#include <sstream>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/io/diagnostics.hpp"
#include "sim/io/embedded.hpp"
#include "tools/output/figures.hpp"
#include "tools/version.hpp"
#include "workloads/exports/export.hpp"

namespace weft {
namespace {

constexpr std::array group_titles = std::to_array<std::pair<CommandGroup, std::string_view>>({
    {CommandGroup::run, "Simulate"},
    {CommandGroup::inspect, "Look closer"},
    {CommandGroup::exchange, "Other tools' formats"},
    {CommandGroup::other, "More"},
});

// Cuts `ending` off; returns whether it was there.
bool cut(std::string& text, std::string_view ending) {
    const bool is_there = text.ends_with(ending);
    if (is_there) text.resize(text.size() - ending.size());
    return is_there;
}

// Declares what the lines of a file say.
class OptionReader {
  public:
    explicit OptionReader(CommandOptions& options) : options_(options) {}

    // `fallback`: in place of the first option's default; empty: it keeps it.
    void read(std::string_view text, std::string fallback = {}) {
        std::istringstream lines{std::string(text)};
        std::string head, meaning;
        const auto finish = [&] {
            if (!head.empty())
                declare(std::exchange(head, {}), std::exchange(meaning, {}), std::exchange(fallback, {}));
        };
        for (std::string line; std::getline(lines, line);) {
            if (line.starts_with("    ")) {
                meaning += (meaning.empty() ? "" : " ") + line.substr(4);
                continue;
            }
            finish();
            if (line.starts_with("+ ")) {
                std::string other = default_in(line);
                read(embedded::text_of(embedded::option_groups(), line.substr(2)), std::move(other));
            } else {
                head = line;
            }
        }
        finish();
    }

  private:
    // Cuts " (=...)" off.
    static std::string default_in(std::string& head) {
        const std::size_t begin = head.find(" (=");
        if (begin == head.npos) return {};
        const std::string text = head.substr(begin + 3, head.size() - begin - 4);
        head.resize(begin);
        return text;
    }

    void declare(std::string head, std::string meaning, const std::string& fallback) {
        const bool required = cut(head, " required");
        std::string otherwise = default_in(head);
        if (!fallback.empty()) otherwise = fallback;
        if (meaning == "{exports}")
            meaning = comma_list(exports::all(), [](const auto* format) { return format->name; });
        const bool list = cut(head, " list"), number = cut(head, " number"), count = cut(head, " count");
        const std::size_t blank = std::min(head.find(' '), head.size());
        std::string name = head.substr(0, blank);
        const std::string placeholder = head.substr(std::min(blank + 1, head.size()));
        if (name.starts_with("--")) {
            name.erase(0, 2);
        } else {
            name = name.substr(1, name.size() - 2);
            const int most = cut(name, "...") ? -1 : 1;
            options_.positional.add(name.c_str(), most);
        }
        const auto add = [&](po::value_semantic* value) {
            options_.all.add_options()(name.c_str(), value, meaning.c_str());
        };
        const auto add_value = [&](auto* value) {
            value->value_name(placeholder);
            if (required) value->required();
            add(value);
        };
        if (placeholder.empty()) {
            add(po::bool_switch());
        } else if (list) {
            add_value(po::value<std::vector<std::string>>()->composing());
        } else if (number) {
            add_value(po::value<double>()->default_value(std::stod(otherwise), otherwise));
        } else if (count) {
            add_value(po::value<std::uint32_t>());
        } else if (otherwise.empty()) {
            add_value(po::value<std::string>());
        } else {
            add_value(po::value<std::string>()->default_value(otherwise));
        }
    }

    CommandOptions& options_;
};

Exit print(std::string_view text) {
    std::cout << text;
    return Exit::ok;
}

}  // namespace

CommandHelp help_of(const Command& command) {
    constexpr std::string_view mark = "\n\nOPTIONS\n";
    const std::string_view text = embedded::text_of(embedded::commands(), command.name);
    const std::size_t summary = text.find("\n\n"), details = text.find("\n\n", summary + 2), options = text.find(mark);
    WEFT_CHECK(details < options && options != text.npos, std::string(command.name) + ".help lacks a part");
    return {text.substr(0, summary), text.substr(summary + 2, details - summary - 2),
            text.substr(details + 2, options - details - 2), text.substr(options + mark.size())};
}

CommandOptions options_of(const Command& command) {
    CommandOptions options;
    OptionReader(options).read(help_of(command).options);
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
    const auto is_it = [&](const Command* command) { return command->name == name; };
    if (const Command* const found = first_of(commands::all(), is_it)) return *found;
    const auto known = list_of<std::string>(commands::all(), &Command::name);
    throw UsageError(fmt::format("unknown command \"{}\"{}\nsee weft --help", name, suggestion(name, known)));
}

// Translates Boost's complaints into ours: shorter, with the nearest names.
po::variables_map parse_arguments(const Command& command, std::span<const char* const> arguments) {
    const CommandOptions options = options_of(command);
    const auto refuse = [&](const std::string& what) {
        throw UsageError(fmt::format("{}\nusage: {}\nsee weft {} --help", what, help_of(command).usage, command.name));
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
        refuse(is_positional(options, name) ? boost::to_upper_copy(name) + " is missing"
                                            : "option --" + name + " is missing");
    } catch (const po::error& error) {
        refuse(error.what());
    }
    return values;
}

std::string program_help() {
    std::string text =
        "weft simulates training steps of a transformer on a real machine: how long a step takes, where the time\n"
        "goes, what crosses which link, and whether it fits in memory.\n\n"
        "usage: weft COMMAND [arguments]\n";
    for (const auto& [group, title] : group_titles) {
        std::string lines;
        for (const Command* command : commands::all()) {
            if (command->group == group)
                lines += fmt::format("  {:<12} {}\n", command->name, help_of(*command).summary);
        }
        if (!lines.empty()) text += fmt::format("\n{}:\n{}", title, lines);
    }
    const std::string exits = comma_list(exit_meanings, [](const ExitMeaning& each) {
        return fmt::format("{} {}", static_cast<int>(each.code), each.meaning);
    });
    return text +
           "\n  weft COMMAND --help   arguments and examples of a command\n"
           "  weft --version        print the version\n\n"
           "exit codes: " +
           exits + "\n";
}

std::string command_help(const Command& command) {
    const CommandHelp help = help_of(command);
    const CommandOptions options = options_of(command);
    po::options_description visible("options", 110, 55);
    for (const auto& option : options.all.options()) {
        if (!is_positional(options, option->long_name())) visible.add(option);
    }
    std::ostringstream text;
    text << "usage: " << help.usage << "\n\n" << help.summary << "\n\n" << help.details << "\n\n" << visible;
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
        const Answer answer = command.run(values);
        fmt::print("{}", answer.text);
        return answer.exit;
    } catch (const po::error& error) {  // an argument that only the command could judge
        throw UsageError(fmt::format("{}\nsee weft {} --help", error.what(), command.name));
    }
}

}  // namespace weft
