// `weft import FILE...`: what other tools' files come to as a model, job or machine of weft.
#include <fmt/format.h>

#include <cstdio>

#include "sim/io/files.hpp"
#include "tools/command.hpp"
#include "tools/output/report_text.hpp"
#include "workloads/formats/format.hpp"

namespace weft::commands {
namespace {

std::uint32_t number_option(const po::variables_map& arguments, const char* option) {
    return arguments.count(option) ? arguments[option].as<std::uint32_t>() : 0;
}

FormatOptions format_options(const po::variables_map& arguments) {
    return {.machine = option_text(arguments, "machine"),
            .nodes = number_option(arguments, "nodes"),
            .model = option_text(arguments, "model"),
            .vocabulary = number_option(arguments, "vocabulary"),
            .encoder = given(arguments, "encoder"),
            .like = option_text(arguments, arguments.count("like") ? "like" : "node"),
            .variables = option_texts(arguments, "variable"),
            .overrides = option_texts(arguments, "set")};
}

void explain(const Import& import) {
    for (const Origin& origin : import.without_effect) {
        fmt::print(stderr, "{}:{}: {}: without effect on time and memory\n", origin.file, origin.line, origin.key);
    }
}

Answer run_import(const po::variables_map& arguments) {
    const std::vector<SourceFile> files = read_sources(option_texts(arguments, "file"));
    const Format& format = format_of(files, option_text(arguments, "from"));
    const Import import = import_files(format, files, format_options(arguments));
    std::string text = import.object.text();
    const bool is_written = arguments.count("out") > 0;
    if (is_written) write_file_atomically(option_text(arguments, "out"), text);
    if (given(arguments, "json")) return {import_json(format, import)};
    print_notes(import.notes);
    if (given(arguments, "explain")) explain(import);
    for (const FormatFact& fact : import.facts) fmt::print(stderr, "{} {}\n", fact.name, fact.json);
    return {is_written ? "" : std::move(text)};
}

}  // namespace

extern const Command import_{.name = "import", .run = run_import, .group = CommandGroup::exchange};

}  // namespace weft::commands
