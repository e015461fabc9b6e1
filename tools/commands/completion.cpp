// `weft completion SHELL`: a completion script, which asks `weft completion words` for what may follow.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tools/command.hpp"
#include "tools/manual/manual.hpp"

namespace weft::commands {
namespace {

using Words = std::vector<std::string>;

Answer run_completion(const po::variables_map& arguments) {
    const auto shell = arguments["shell"].as<std::string>();
    const Words words = arguments.count("words") > 0 ? arguments["words"].as<Words>() : Words();
    if (shell == "words") {
        return {sum_of<std::string>(completions(words), [](const std::string& word) { return word + "\n"; })};
    }
    const Words shells = shell_names();
    if (std::ranges::find(shells, shell) == shells.end()) {
        throw OptionError("expected one of {}, got \"{}\"", fmt::join(shells, ", "), shell);
    }
    if (!words.empty()) throw OptionError("too many arguments");
    return {std::string(completion_script(shell))};
}

}  // namespace

extern const Command completion{.name = "completion", .run = run_completion, .group = CommandGroup::other};

}  // namespace weft::commands
