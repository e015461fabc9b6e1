// `weft compare JOB [JOB]...`: what differs between jobs, and where the difference in time comes from.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "sim/io/files.hpp"
#include "tools/command.hpp"
#include "tools/explain/job_comparison.hpp"
#include "tools/options.hpp"
#include "tools/output/job_comparison_text.hpp"
#include "tools/page/pages.hpp"
#include "tools/refusals.hpp"

namespace weft::commands {
namespace {

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

extern const Command compare{
    .name = "compare",
    .summary = "what differs between jobs, and where the difference in time comes from",
    .run = run_compare,
    .group = CommandGroup::run,
};

}  // namespace weft::commands
