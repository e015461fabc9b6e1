// `weft merge OUT SHARD...`: one table of the shards of a sweep.
#include <fmt/format.h>

#include <cstdio>
#include <stdexcept>

#include "tools/command.hpp"
#include "tools/output/result_file.hpp"
#include "tools/sweep/merge.hpp"

namespace weft::commands {
namespace {

using Paths = std::vector<std::string>;

void options(po::options_description& options, po::positional_options_description& positional) {
    options.add_options()("out", po::value<std::string>()->required()->value_name("OUT"), "table to write")(
        "shard", po::value<Paths>()->required()->value_name("SHARD"), "files of weft sweep --shard");
    positional.add("out", 1).add("shard", -1);
}

Exit run(const po::variables_map& arguments) {
    const std::string out = arguments["out"].as<std::string>();
    try {
        result_format(out);
    } catch (const std::invalid_argument& error) {
        throw po::error(std::string("OUT: ") + error.what());
    }
    const auto& names = arguments["shard"].as<Paths>();
    const MergedRows merged = merge_shards({names.begin(), names.end()});
    const std::size_t rows = merged.table.rows.size();
    write_results(out, {.command = "sweep", .job = merged.job, .inputs = merged.inputs.digest()}, merged.table);
    fmt::print(stderr, "{}: {} rows of {} shards\n", out, rows, names.size());
    return Exit::ok;
}

}  // namespace

extern const Command merge;
const Command merge{
    .name = "merge",
    .summary = "put the shards of a sweep together",
    .usage = "weft merge OUT SHARD...",
    .details =
        "The file is that of a sweep without --shard, to the byte. Refused: shards of other inputs, a shard that is\n"
        "missing, given twice or not complete.\n"
        "Example: weft merge rows.csv part-*.shard",
    .options = options,
    .run = run,
    .group = CommandGroup::run,
};

}  // namespace weft::commands
