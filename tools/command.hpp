// One subcommand of `weft`: one constant in one file of tools/commands, found by the build (weft_registry). Beside it
// <name>.help says how it is called, in one line what it is for, what `weft <name> --help` tells and, below a line
// OPTIONS, its options: a line each, and what it means in lines that are indented.
//
//   --json                   a switch
//   --out,o FILE             a text; help calls it FILE
//   --top K (=5)             with a default
//   --set KEY=VALUE list     texts, since it may be given several times; `number`: a double; `count`: a whole number
//   <job> JOB required       an argument; <file...>: all that follow
//   + fabric                 the options of fabric.options; behind it (=D): with this default of their first
#pragma once

#include <boost/program_options.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sim/base/check.hpp"

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
using OptionError = Formatted<po::error>;  // of an option, or of what it says

// Whether a switch was given.
inline bool given(const po::variables_map& arguments, const char* option) { return arguments[option].as<bool>(); }

// Under which heading `weft --help` lists a command, in this order.
enum class CommandGroup : std::uint8_t { run, inspect, exchange, other };

// What a command says on stdout at its end; some have written before.
struct Answer {
    std::string text{};
    Exit exit = Exit::ok;
};

// The user's mistakes: throw ConfigError (exit code 3) or OptionError (exit code 2).
struct Command {
    std::string_view name;  // "simulate"
    Answer (*run)(const po::variables_map&) = nullptr;
    CommandGroup group = CommandGroup::other;
    bool is_of_library = false;  // which can ask it as well: it says nothing but its answer
};

namespace commands {
std::span<const Command* const> all();  // sorted by file name
}

}  // namespace weft
