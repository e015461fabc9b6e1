// `weft sweep JOB --vary KEY=V1,V2,...`: a grid of simulations, one row each.
#include <fmt/format.h>

#include <cstdio>
#include <stdexcept>
#include <thread>

#include "sim/io/atomic_file.hpp"
#include "tools/command.hpp"
#include "tools/folding_option.hpp"
#include "tools/job_options.hpp"
#include "tools/progress.hpp"
#include "tools/sweep/sweep.hpp"

namespace weft::commands {
namespace {

void options(po::options_description& options, po::positional_options_description& positional) {
    add_job_options(options, positional);
    add_network_option(options);
    add_folding_options(options, Folding::stages);
    options.add_options()("vary",
                          po::value<std::vector<std::string>>()->required()->composing()->value_name("KEY=V1,V2"),
                          "values of one key; repeatable, the last varies fastest")(
        "out", po::value<std::string>()->value_name("FILE"), "write rows to FILE (.csv or .jsonl) instead of stdout")(
        "jobs", po::value<unsigned>()->value_name("N"), "simulations at a time (default: the processor's threads)")(
        "json", po::bool_switch(), "JSON Lines on stdout");
}

SweepGrid read_grid(const po::variables_map& arguments) {
    std::vector<Variation> variations;
    for (const std::string& text : arguments["vary"].as<std::vector<std::string>>()) {
        try {
            variations.push_back(parse_variation(text));
        } catch (const std::invalid_argument& error) {
            throw po::error(std::string("--vary: ") + error.what());
        }
    }
    return SweepGrid(std::move(variations));
}

enum class RowFormat : std::uint8_t { csv, json_lines };

RowFormat row_format(const po::variables_map& arguments) {
    if (!arguments.count("out")) return arguments["json"].as<bool>() ? RowFormat::json_lines : RowFormat::csv;
    const std::string& path = arguments["out"].as<std::string>();
    if (path.ends_with(".csv")) return RowFormat::csv;
    if (path.ends_with(".jsonl")) return RowFormat::json_lines;
    throw po::error("--out: expected a name that ends in .csv or .jsonl, got \"" + path + "\"");
}

Exit run(const po::variables_map& arguments) {
    const SweepGrid grid = read_grid(arguments);
    const RowFormat format = row_format(arguments);
    SweepOptions sweep;
    sweep.overrides = job_overrides(arguments);
    sweep.simulation.network = network_option(arguments);
    sweep.simulation.folding = folding_option(arguments);
    sweep.threads = arguments.count("jobs") ? arguments["jobs"].as<unsigned>() : std::thread::hardware_concurrency();
    std::vector<SweepRow> rows;
    {
        ProgressBar bar;
        sweep.progress = [&bar](std::size_t done, std::size_t points) { bar.show(done, points); };
        rows = run_sweep(job_path(arguments), grid, sweep);
    }
    const std::string text = format == RowFormat::csv ? sweep_csv(grid, rows) : sweep_json_lines(grid, rows);
    std::size_t failed = 0;
    for (const SweepRow& row : rows) failed += row.reason.empty() ? 0 : 1;
    if (arguments.count("out")) {
        write_file_atomically(arguments["out"].as<std::string>(), text);
        fmt::print(stderr, "{}: {} rows, {} without result\n", arguments["out"].as<std::string>(), rows.size(), failed);
    } else {
        fmt::print("{}", text);
    }
    if (failed == rows.size()) fmt::print(stderr, "no point could be simulated; the first: {}\n", rows.front().reason);
    return failed == rows.size() ? Exit::bad_input : Exit::ok;
}

}  // namespace

extern const Command sweep;
const Command sweep{
    .name = "sweep",
    .summary = "a grid of simulations over job keys, one row each",
    .usage = "weft sweep JOB --vary KEY=V1,V2,... [--vary ...] [--out FILE.csv|FILE.jsonl] [--jobs N]",
    .details =
        "Points that cannot run keep their row, with the reason. Rows are the same for any --jobs.\n"
        "Example: weft sweep job.json --vary batch.sequence=512,1024,2048 --out sequence.csv",
    .options = options,
    .run = run,
    .group = CommandGroup::run,
};

}  // namespace weft::commands
