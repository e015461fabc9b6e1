// `weft merge OUT SHARD...`: one table of the shards of a sweep.
#include <fmt/format.h>

#include <cstdio>
#include <stdexcept>

#include "sim/io/atomic_file.hpp"
#include "tools/command.hpp"
#include "tools/options.hpp"
#include "tools/output/result_file.hpp"
#include "tools/page/pages.hpp"
#include "tools/sweep/row_file.hpp"

namespace weft::commands {
namespace {

using Paths = std::vector<std::string>;

void merge_options(po::options_description& options, po::positional_options_description& positional) {
    options.add_options()("out", po::value<std::string>()->required()->value_name("OUT"), "table to write")(
        "shard", po::value<Paths>()->required()->value_name("SHARD"), "files of weft sweep --shard")(
        "report", text_value("FILE"), "write rows as a page with charts as well (.html)");
    positional.add("out", 1).add("shard", -1);
}

Exit run_merge(const po::variables_map& arguments) {
    const std::string out = arguments["out"].as<std::string>();
    try {
        result_format(out);
    } catch (const std::invalid_argument& error) {
        throw po::error(std::string("OUT: ") + error.what());
    }
    const std::string page = output_option(arguments, "report", {".html"});
    const auto& names = arguments["shard"].as<Paths>();
    const MergedRows merged = merge_shards({names.begin(), names.end()});
    const std::size_t rows = merged.table.rows.size();
    write_results(out, {.command = "sweep", .job = merged.job, .inputs = merged.inputs.digest()}, merged.table);
    if (!page.empty()) {
        const ResultPageText text{.title = "Sweep of " + merged.job, .command = "weft merge " + out};
        write_file_atomically(page, sweep_page(text, merged.table));
    }
    fmt::print(stderr, "{}: {} rows of {} shards\n", out, rows, names.size());
    return Exit::ok;
}

}  // namespace

extern const Command merge;
const Command merge{
    .name = "merge",
    .summary = "put the shards of a sweep together",
    .usage = "weft merge OUT SHARD... [--report FILE]",
    .details =
        "The file is that of a sweep without --shard, to the byte. Refused: shards of other inputs, a shard that is\n"
        "missing, given twice or not complete.\n"
        "Example: weft merge rows.csv part-*.shard",
    .options = merge_options,
    .run = run_merge,
    .group = CommandGroup::run,
};

}  // namespace weft::commands
