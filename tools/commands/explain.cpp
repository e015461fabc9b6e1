// `weft explain JOB`: why a step takes as long as it does, and what would change it.
#include <fmt/format.h>

#include <cstdio>

#include "sim/io/atomic_file.hpp"
#include "tools/command.hpp"
#include "tools/explain/job_explanation.hpp"
#include "tools/job_options.hpp"
#include "tools/options.hpp"
#include "tools/output/explanation_text.hpp"
#include "tools/page/pages.hpp"
#include "tools/parallel.hpp"
#include "tools/refusals.hpp"
#include "tools/size_limit.hpp"

namespace weft::commands {
namespace {

void explain_options(po::options_description& options, po::positional_options_description& positional) {
    add_job_options(options, positional);
    add_network_option(options);
    options.add_options()("json", po::bool_switch(), "machine-readable explanation")(
        "path-only", po::bool_switch(), "the critical path alone: look at no changes")(
        "simulate-all", po::bool_switch(), "simulate every change, and not the most promising ones alone")(
        "report", text_value("FILE"),
        "write the step as simulate's page does, explained, with what would change it (.html)")(
        "jobs", count_value("N"), "threads (default: the processor's)");
    add_memory_option(options);
    add_folding_options(options, Folding::automatic);
    add_memory_limit_option(options);
}

Exit run_explain(const po::variables_map& arguments) {
    const std::string page = output_option(arguments, "report", {".html"});
    const Study study = job_study(arguments);
    if (refused_for_memory(arguments, study, make_plan(study))) return Exit::does_not_fit;
    const unsigned threads = count_option(arguments, jobs_option).value_or(all_threads());
    ProgressBar bar;
    const JobExplanation explained =
        explain_job(study, {.source = job_path(arguments), .overrides = job_overrides(arguments)},
                    {.simulation = {.network = network_option(arguments),
                                    .folding = folding_option(arguments),
                                    .recording = page.empty() ? Recording::spans : Recording::spans_and_links,
                                    .on_size = refuse_above(memory_limit(arguments, threads))},
                     .changes = !given(arguments, "path-only"),
                     .simulated = given(arguments, "simulate-all") ? ExplainOptions::Simulated::all
                                                                   : ExplainOptions::Simulated::promising,
                     .threads = threads,
                     .progress = [&bar](std::size_t done, std::size_t count) { bar.show(done, count); }});
    if (!page.empty()) {
        write_file_atomically(
            page, explained_page(explained, job_input("explain", arguments), typed_command("simulate", arguments)));
    }
    fmt::print("{}", given(arguments, "json") ? explanation_json(explained, job_record(arguments))
                                              : explanation_text(explained));
    return Exit::ok;
}

}  // namespace

extern const Command explain;
const Command explain{
    .name = "explain",
    .summary = "why a step takes as long as it does, and what would change it",
    .usage =
        "weft explain [JOB] [--model MODEL --machine MACHINE --nodes N] [--set KEY=VALUE]... [--json] [--path-only] "
        "[--report FILE] [--jobs N]",
    .details =
        "The critical path of the step, through stages, calls and links, by cause: the times sum to the step. Then "
        "what\n"
        "is not on it and by how much; what the step would take if a limit of device, links or schedule were\n"
        "otherwise; and what every setting one step away from the job's would give, with its memory: each change on\n"
        "its own. The most promising are simulated; of the others it says what the path, a replay or a closed form\n"
        "tells. Settings that the framework's version does not have are left out.\n\n"
        "  weft explain job.json\n"
        "  weft explain job.json --report why.html\n\n"
        "Exit codes: 0 explained, 3 mistakes in the input, 4 does not fit in memory.",
    .options = explain_options,
    .run = run_explain,
    .group = CommandGroup::run,
};

}  // namespace weft::commands
