// One subcommand of `weft`: one constant in one file of tools/commands, found by the build (weft_registry).
#pragma once

#include <boost/program_options.hpp>
#include <cstdint>
#include <span>
#include <string_view>

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
