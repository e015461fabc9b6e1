// `weft schema KIND`: what a job, machine, device or model file may hold, as its reader knows it.

#include <fmt/format.h>

#include <algorithm>

#include "tools/command.hpp"
#include "tools/schema/reference.hpp"

namespace weft::commands {
namespace {

Answer run_schema(const po::variables_map& arguments) {
    const auto kind = arguments["kind"].as<std::string>();
    const std::vector<std::string> kinds = reference_kinds();
    if (std::ranges::find(kinds, kind) == kinds.end()) {
        throw OptionError("expected one of {}, got \"{}\"", fmt::join(kinds, ", "), kind);
    }
    const Reference reference = make_reference(kind);
    return {given(arguments, "markdown") ? reference_markdown(reference) : json_schema(reference)};
}

}  // namespace

extern const Command schema{.name = "schema", .run = run_schema, .group = CommandGroup::other};

}  // namespace weft::commands
