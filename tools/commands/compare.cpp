// `weft compare JOB [JOB]...`: what differs between jobs, and where the difference in time comes from; of a job and
// traces of it, where the simulation differs from what was recorded.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "sim/io/files.hpp"
#include "tools/command.hpp"
#include "tools/explain/job_explanation.hpp"
#include "tools/output/comparison_text.hpp"
#include "tools/output/figures.hpp"
#include "tools/page/pages.hpp"
#include "workloads/recorded/step_comparison.hpp"

namespace weft::commands {
namespace {

// Of one job, itself and what the options make of it; of several, all with the options.
std::vector<ComparedJob> compared(const po::variables_map& arguments) {
    const std::vector<std::string> paths = option_texts(arguments, "jobs");
    const std::vector<std::string> overrides = job_overrides(arguments);
    if (paths.size() == 1) {
        if (overrides.empty()) {
            throw OptionError(
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

std::string command(const po::variables_map& arguments) {
    const std::string jobs = fmt::format("compare {}", fmt::join(option_texts(arguments, "jobs"), " "));
    return typed_command(jobs, arguments, {"network"});
}

ResultPageText page_text(const po::variables_map& arguments, const JobComparison& comparison) {
    const std::vector<std::string> paths = option_texts(arguments, "jobs");
    if (paths.size() == 1) {
        return {std::filesystem::path(paths.front()).stem().string() + ", as it is and changed", command(arguments)};
    }
    return {fmt::format("{} compared", fmt::join(comparison.names, comparison.names.size() == 2 ? " and " : ", ")),
            command(arguments)};
}

// The job comes first.
std::vector<std::string> traces_among(const po::variables_map& arguments) {
    const std::vector<std::string> paths = option_texts(arguments, "jobs");
    if (paths.empty()) throw po::required_option("job");
    if (is_kineto(paths.front())) throw OptionError("compare: the job comes first, then traces of it");
    auto traces = list_of_those<std::string>(std::span(paths).subspan(1), is_kineto);
    if (!traces.empty() && traces.size() + 1 != paths.size()) {
        throw OptionError("compare: expected several jobs, or one job and traces of it");
    }
    return traces;
}

Answer run_traces(const po::variables_map& arguments, const std::vector<std::string>& traces) {
    const std::string page = output_option(arguments, "report", {".html"});
    const std::filesystem::path path = option_texts(arguments, "jobs").front();
    OpenedJob job = open_job(path.string(), job_overrides(arguments));
    print_notes(job.notes);
    const std::string text = job.document.text();
    const Study study = read_study(std::move(job.document));
    const Simulation run = simulate_step(study, make_plan(study), simulation_options(arguments, page));
    std::vector<StepComparison> found;
    std::vector<ComparedTrace> of_page;
    for (const std::string& each : traces) {
        KinetoTrace trace = read_kineto(each);
        found.push_back(compare_step(trace, run));
        if (!page.empty()) of_page.push_back({std::move(trace), found.back()});
    }
    if (!page.empty()) {
        const JobInput input{.command = command(arguments), .text = text, .folder = path.parent_path()};
        write_file_atomically(page, step_comparison_page(of_page, run, input, path.stem().string()));
    }
    return {given(arguments, "json") ? step_comparison_json(found) : comma_list(found, step_comparison_text, "\n")};
}

Answer run_compare(const po::variables_map& arguments) {
    if (const std::vector<std::string> traces = traces_among(arguments); !traces.empty()) {
        return run_traces(arguments, traces);
    }
    const std::string page = output_option(arguments, "report", {".html"});
    const JobComparison comparison =
        compare_jobs(compared(arguments), {.simulation = simulation_options(arguments, page), .changes = false});
    if (!page.empty()) write_file_atomically(page, compare_page(comparison, page_text(arguments, comparison)));
    return {given(arguments, "json") ? job_comparison_json(comparison) : job_comparison_text(comparison)};
}

}  // namespace

extern const Command compare{.name = "compare", .run = run_compare, .group = CommandGroup::run};

}  // namespace weft::commands
