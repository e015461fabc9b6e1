// One subcommand of `weft`: one constant in one file of tools/commands, found by the build (weft_registry).
#pragma once

#include <boost/program_options.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

enum class Exit : int {
    ok = 0,
    mismatch = 1,
    usage = 2,
    bad_input = 3,
    does_not_fit = 4,
    internal = 70,
    interrupted = 130
};

namespace po = boost::program_options;

// An option with a text, and one that may be given several times; help calls the text `name`.
inline auto* text_value(const char* name) { return po::value<std::string>()->value_name(name); }
inline auto* texts_value(const char* name) {
    return po::value<std::vector<std::string>>()->composing()->value_name(name);
}
// Whether a switch was given.
inline bool given(const po::variables_map& arguments, const char* option) { return arguments[option].as<bool>(); }

// Under which heading `weft --help` lists a command, in this order.
enum class CommandGroup : std::uint8_t { run, inspect, exchange, other };

struct Command {
    std::string_view name;     // "simulate"
    std::string_view summary;  // one line for `weft --help`
    std::string_view usage;    // "weft simulate JOB [options]"
    std::string_view details;  // paragraphs and examples for `weft simulate --help`
    // Declares options and positional arguments; --help is added to every command.
    void (*options)(po::options_description&, po::positional_options_description&);
    // Prints results to stdout. The user's mistakes: throw ConfigError (exit code 3) or po::error (exit code 2).
    Exit (*run)(const po::variables_map&);
    CommandGroup group = CommandGroup::other;
};

namespace commands {
std::span<const Command* const> all();  // sorted by file name
}

}  // namespace weft
