// `weft compare JOB [JOB]...`: what differs between jobs, and where the difference in time comes from.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "sim/io/atomic_file.hpp"
#include "tools/command.hpp"
#include "tools/explain/job_comparison.hpp"
#include "tools/job_options.hpp"
#include "tools/options.hpp"
#include "tools/output/job_comparison_text.hpp"
#include "tools/page/pages.hpp"
#include "tools/size_limit.hpp"

namespace weft::commands {
namespace {

void compare_options(po::options_description& options, po::positional_options_description& positional) {
    options.add_options()("jobs", po::value<std::vector<std::string>>()->value_name("JOB..."), "jobs to compare");
    positional.add("jobs", -1);
    add_override_options(options);
    options.add_options()("json", po::bool_switch(), "machine-readable comparison")(
        "report", text_value("FILE"), "write the comparison as a page with the timelines on one axis (.html)");
    add_network_option(options);
    add_folding_options(options, Folding::automatic);
    add_memory_limit_option(options);
}

// Of one job, itself and what the options make of it; of several, all with the options.
std::vector<ComparedJob> compared(const po::variables_map& arguments) {
    const std::vector<std::string> paths = option_texts(arguments, "jobs");
    const std::vector<std::string> overrides = job_overrides(arguments);
    if (paths.empty()) throw po::required_option("job");
    if (paths.size() == 1) {
        if (overrides.empty()) {
            throw po::error(
                "compare: one job and nothing that makes another of it; give a second job, or --set, "
                "--machine, --nodes or --model");
        }
        return {{"as it is", {paths.front(), {}}}, {"changed", {paths.front(), overrides}}};
    }
    std::vector<ComparedJob> jobs;
    for (const std::string& path : paths) {
        std::string name = std::filesystem::path(path).stem().string();
        const auto so_called = std::ranges::count_if(
            paths, [&](const std::string& other) { return std::filesystem::path(other).stem() == name; });
        jobs.push_back({so_called > 1 ? path : name, {path, overrides}});
    }
    return jobs;
}

ResultPageText page_text(const po::variables_map& arguments, const JobComparison& comparison) {
    const std::vector<std::string> paths = option_texts(arguments, "jobs");
    std::string command = typed_command(fmt::format("compare {}", fmt::join(paths, " ")), arguments);
    if (!arguments["network"].defaulted()) command += " --network " + arguments["network"].as<std::string>();
    if (paths.size() == 1) {
        return {std::filesystem::path(paths.front()).stem().string() + ", as it is and changed", std::move(command)};
    }
    return {fmt::format("{} compared", fmt::join(comparison.names, comparison.names.size() == 2 ? " and " : ", ")),
            std::move(command)};
}

Exit run_compare(const po::variables_map& arguments) {
    const std::string page = output_option(arguments, "report", {".html"});
    const JobComparison comparison = compare_jobs(
        compared(arguments), {.simulation = {.network = network_option(arguments),
                                             .folding = folding_option(arguments),
                                             .recording = page.empty() ? Recording::spans : Recording::spans_and_links,
                                             .on_size = refuse_above(memory_limit(arguments))},
                              .changes = false});
    if (!page.empty()) write_file_atomically(page, compare_page(comparison, page_text(arguments, comparison)));
    fmt::print("{}", given(arguments, "json") ? job_comparison_json(comparison) : job_comparison_text(comparison));
    return Exit::ok;
}

}  // namespace

extern const Command compare;
const Command compare{
    .name = "compare",
    .summary = "what differs between jobs, and where the difference in time comes from",
    .usage =
        "weft compare JOB JOB... [--set KEY=VALUE]... [--json] [--report FILE]\n"
        "       weft compare JOB --set KEY=VALUE [--machine MACHINE] [--nodes N] [--json] [--report FILE]",
    .details =
        "Several jobs, or one job and what the options make of it: the keys that differ, the figures, and the time of\n"
        "every cause on the critical path. The differences by cause sum to that of the steps. A job that does not fit\n"
        "in memory is compared all the same.\n\n"
        "  weft compare job.json --set layout.tensor=8 --set layout.data=16\n"
        "  weft compare job.json --machine dgx-h100 --nodes 16\n"
        "  weft compare today.json tomorrow.json --report difference.html",
    .options = compare_options,
    .run = run_compare,
    .group = CommandGroup::run,
};

}  // namespace weft::commands
