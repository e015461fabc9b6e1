// `weft completion SHELL`: a completion script, which asks `weft completion words` for what may follow.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>

#include "tools/command.hpp"
#include "tools/manual/completions.hpp"

namespace weft::commands {
namespace {

using Words = std::vector<std::string>;

void completion_options(po::options_description& options, po::positional_options_description& positional) {
    options.add_options()("shell", po::value<std::string>()->default_value("bash")->value_name("SHELL"),
                          "bash, fish or zsh")("words", po::value<Words>()->value_name("WORD"),
                                               "what was typed behind weft");
    positional.add("shell", 1).add("words", -1);
}

Exit run_completion(const po::variables_map& arguments) {
    const auto shell = arguments["shell"].as<std::string>();
    const Words words = arguments.count("words") > 0 ? arguments["words"].as<Words>() : Words();
    if (shell == "words") {
        for (const std::string& word : completions(words)) fmt::print("{}\n", word);
        return Exit::ok;
    }
    const Words shells = shell_names();
    if (std::ranges::find(shells, shell) == shells.end()) {
        throw po::error(fmt::format("expected one of {}, got \"{}\"", fmt::join(shells, ", "), shell));
    }
    if (!words.empty()) throw po::error("too many arguments");
    fmt::print("{}", completion_script(shell));
    return Exit::ok;
}

}  // namespace

extern const Command completion{
    .name = "completion",
    .summary = "print a completion script: commands, options, keys and values, names of machines and models",
    .usage = "weft completion [bash|fish|zsh]",
    .details =
        "In this shell, or at the end of what it reads at its start:\n\n"
        "  source <(weft completion bash)\n"
        "  source <(weft completion zsh)\n"
        "  weft completion fish | source\n\n"
        "A package has them installed already. The scripts ask the program, which answers one word per line:\n\n"
        "  weft completion words -- simulate job.json --set recompute=",
    .options = completion_options,
    .run = run_completion,
    .group = CommandGroup::other,
};

}  // namespace weft::commands
