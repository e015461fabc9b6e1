// `weft explain JOB`: why a step takes as long as it does, and what would change it.

#include "sim/io/files.hpp"
#include "tools/command.hpp"
#include "tools/explain/job_explanation.hpp"
#include "tools/output/explanation_text.hpp"
#include "tools/page/pages.hpp"
#include "tools/parallel.hpp"
#include "tools/plan/request.hpp"

namespace weft::commands {
namespace {

Answer run_explain(const po::variables_map& typed) {
    const po::variables_map arguments = with_best_layout(typed);
    const std::string page = output_option(arguments, "report", {".html"});
    const Study study = job_study(arguments);
    if (refused_for_memory(arguments, study, make_plan(study))) return {.exit = Exit::does_not_fit};
    const unsigned threads = threads_option(arguments);
    ProgressBar bar;
    const JobExplanation explained =
        explain_job(study, {.source = job_path(arguments), .overrides = job_overrides(arguments)},
                    {.simulation = simulation_options(arguments, page, threads),
                     .changes = !given(arguments, "path-only"),
                     .simulated = given(arguments, "simulate-all") ? ExplainOptions::Simulated::all
                                                                   : ExplainOptions::Simulated::promising,
                     .threads = threads,
                     .progress = [&bar](std::size_t done, std::size_t count) { bar.show(done, count); }});
    if (!page.empty()) {
        write_file_atomically(
            page, explained_page(explained, job_input("explain", arguments), typed_command("simulate", arguments)));
    }
    return {given(arguments, "json") ? explanation_json(explained, job_record(arguments))
                                     : explanation_text(explained)};
}

}  // namespace

extern const Command explain{.name = "explain", .run = run_explain, .group = CommandGroup::run};

}  // namespace weft::commands
