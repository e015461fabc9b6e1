// `weft import FILE...`: what other tools' files come to as a model, job or machine of weft.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "sim/io/atomic_file.hpp"
#include "tools/command.hpp"
#include "tools/job_options.hpp"
#include "tools/output/report_json.hpp"
#include "workloads/formats/format.hpp"

namespace weft::commands {
namespace {

std::string text_of(const po::variables_map& arguments, const char* option) {
    return arguments.count(option) ? arguments[option].as<std::string>() : std::string();
}

std::uint32_t number_of(const po::variables_map& arguments, const char* option) {
    return arguments.count(option) ? arguments[option].as<std::uint32_t>() : 0;
}

FormatOptions format_options(const po::variables_map& arguments) {
    return {.machine = text_of(arguments, "machine"),
            .nodes = number_of(arguments, "nodes"),
            .model = text_of(arguments, "model"),
            .vocabulary = number_of(arguments, "vocabulary"),
            .like = text_of(arguments, arguments.count("like") ? "like" : "node"),
            .variables = option_texts(arguments, "variable"),
            .overrides = option_texts(arguments, "set")};
}

void explain(const Import& import) {
    for (const Origin& origin : import.without_effect) {
        fmt::print(stderr, "{}:{}: {}: without effect on time and memory\n", origin.file, origin.line, origin.key);
    }
}

void print_facts(const Import& import) {
    for (const FormatFact& fact : import.facts) fmt::print(stderr, "{} {}\n", fact.name, fact.json);
}

Exit run_import(const po::variables_map& arguments) {
    const std::vector<SourceFile> files = read_sources(option_texts(arguments, "file"));
    const Format& format = format_of(files, text_of(arguments, "from"));
    const Import import = import_files(format, files, format_options(arguments));
    const std::string text = import.object.text();
    if (arguments.count("out")) write_file_atomically(arguments["out"].as<std::string>(), text);
    if (arguments.count("json")) {
        fmt::print("{}", import_json(format, import));
        return Exit::ok;
    }
    if (!arguments.count("out")) fmt::print("{}", text);
    print_notes(import.notes);
    if (arguments.count("explain")) explain(import);
    print_facts(import);
    return Exit::ok;
}

void add_options(po::options_description& options, po::positional_options_description& positional) {
    options.add_options()("file", po::value<std::vector<std::string>>()->required()->value_name("FILE"),
                          "files of one tool that belong together")(
        "from", text_value("INPUT"), "the format, where it is not recognised")("machine", text_value("MACHINE"),
                                                                               "of a job: the machine that it runs on")(
        "nodes", po::value<std::uint32_t>()->value_name("N"), "nodes of the job, or of the machine that is made")(
        "model", text_value("MODEL"), "of a job: the model, where its file has none")(
        "vocabulary", po::value<std::uint32_t>()->value_name("N"),
        "size of the tokenizer, where only its name is given")("like", text_value("MACHINE"),
                                                               "of a machine: what the file does not say is as there")(
        "node", text_value("MACHINE"), "the same as --like, for files of networks alone")(
        "variable", texts_value("NAME=VALUE"), "a variable of a script that it does not set itself; repeatable")(
        "set", texts_value("KEY=VALUE"), "override a key of what is made, e.g. batch.global=384; repeatable")(
        "out,o", text_value("FILE"), "write it there instead of to stdout")(
        "explain", "list the keys that have no effect on time and memory, too")(
        "json", "format, kind, object, facts and notes as JSON");
    positional.add("file", -1);
}

}  // namespace

extern const Command import_;
const Command import_{
    .name = "import",
    .summary = "make a model, job or machine out of the files of another tool",
    .usage = "weft import FILE... [options]",
    .details =
        "Each line of the result says where it came from; what was left out is noted on stderr. Every\n"
        "key of the input is used, known to have no effect, or noted; one that would change the result\n"
        "and cannot be represented is an error. No script is run and nothing is fetched.\n\n"
        "  weft import ds_config.json --model llama2-7b --machine frontier --nodes 4 --out job.json\n\n"
        "Exit codes: 0 made, 3 mistakes in the input, or something that weft cannot represent.",
    .options = add_options,
    .run = run_import,
    .group = CommandGroup::exchange,
};

}  // namespace weft::commands
