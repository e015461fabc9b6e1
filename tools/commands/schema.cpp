// `weft schema KIND`: what a job, machine, device or model file may hold, as its reader knows it.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "tools/command.hpp"
#include "tools/schema/reference.hpp"

namespace weft::commands {
namespace {

Exit run_schema(const po::variables_map& arguments) {
    const auto kind = arguments["kind"].as<std::string>();
    const std::vector<std::string> kinds = reference_kinds();
    if (std::ranges::find(kinds, kind) == kinds.end()) {
        throw po::error(fmt::format("expected one of {}, got \"{}\"", fmt::join(kinds, ", "), kind));
    }
    const Reference reference = make_reference(kind);
    fmt::print("{}", arguments.count("markdown") ? reference_markdown(reference) : json_schema(reference));
    return Exit::ok;
}

void add_options(po::options_description& options, po::positional_options_description& positional) {
    options.add_options()("kind", po::value<std::string>()->required()->value_name("KIND"),
                          "job, machine, device or model")("markdown", "the reference of all keys, as Markdown");
    positional.add("kind", 1);
}

}  // namespace

extern const Command schema;
const Command schema{
    .name = "schema",
    .summary = "print the JSON Schema of a kind of file, from which editors complete, or its reference",
    .usage = "weft schema job|machine|device|model [--markdown]",
    .details =
        "A file names its schema under \"$schema\", which readers pass over:\n\n"
        "  weft schema job > job.schema.json      { \"$schema\": \"job.schema.json\", \"machine\": ... }\n\n"
        "Keys, types, choices, bounds and defaults are those that weft's readers ask for (JSON Schema, draft 7).",
    .options = add_options,
    .run = run_schema,
    .group = CommandGroup::other,
};

}  // namespace weft::commands
