// One subcommand of `weft`: one constant in one file of tools/commands, found by the build (weft_registry).
#pragma once

#include <boost/program_options.hpp>
#include <span>
#include <string_view>

namespace weft {

enum class Exit : int { ok = 0, mismatch = 1, usage = 2, bad_input = 3, does_not_fit = 4, internal = 70 };

namespace po = boost::program_options;

struct Command {
    std::string_view name;     // "simulate"
    std::string_view summary;  // one line for `weft --help`
    std::string_view usage;    // "weft simulate JOB [options]"
    std::string_view details;  // paragraphs and examples for `weft simulate --help`
    void (*options)(po::options_description&, po::positional_options_description&);
    Exit (*run)(const po::variables_map&);
};

namespace commands {
std::span<const Command* const> all();  // sorted by file name
}

}  // namespace weft
