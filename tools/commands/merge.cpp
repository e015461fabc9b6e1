// `weft merge OUT SHARD...`: one table of the shards of a sweep.
#include <fmt/format.h>

#include <cstdio>
#include <stdexcept>

#include "sim/io/files.hpp"
#include "tools/command.hpp"
#include "tools/output/result_file.hpp"
#include "tools/page/pages.hpp"
#include "tools/sweep/sweep.hpp"

namespace weft::commands {
namespace {

Answer run_merge(const po::variables_map& arguments) {
    const std::string out = arguments["out"].as<std::string>();
    try {
        result_format(out);
    } catch (const std::invalid_argument& error) {
        throw OptionError(std::string("OUT: ") + error.what());
    }
    const std::string page = output_option(arguments, "report", {".html"});
    const auto& names = arguments["shard"].as<std::vector<std::string>>();
    const MergedRows merged = merge_shards({names.begin(), names.end()});
    const std::size_t rows = merged.table.rows.size();
    write_results(out, {.command = "sweep", .job = merged.job, .inputs = merged.inputs.digest()}, merged.table);
    if (!page.empty()) {
        const ResultPageText text{.title = "Sweep of " + merged.job, .command = "weft merge " + out};
        write_file_atomically(page, sweep_page(text, merged.table));
    }
    fmt::print(stderr, "{}: {} rows of {} shards\n", out, rows, names.size());
    return {};
}

}  // namespace

extern const Command merge{.name = "merge", .run = run_merge, .group = CommandGroup::run};

}  // namespace weft::commands
