// `weft check JOB`: reads and plans, simulates nothing.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "sim/io/document.hpp"
#include "sim/io/shipped.hpp"
#include "sim/io/text_file.hpp"
#include "sim/io/units.hpp"
#include "tools/command.hpp"
#include "tools/job_options.hpp"
#include "tools/output/report_text.hpp"
#include "tools/output/served_text.hpp"
#include "topologies/machine.hpp"
#include "workloads/formats/format.hpp"
#include "workloads/needed_calls.hpp"
#include "workloads/plan.hpp"

namespace weft::commands {
namespace {

Exit check_job(const po::variables_map& arguments) {
    const Study study = job_study(arguments);
    const Plan plan = make_plan(study);
    check_calls(plan);
    const Stage& fullest = plan.stages[plan.fullest_stage()];
    if (!plan.fits()) {
        fmt::print(stderr, "{}: does not fit: stage {} needs at least {} of {}\n{}{}", job_path(arguments),
                   plan.fullest_stage(), to_text(fullest.memory.least()), to_text(plan.device.memory),
                   memory_text(plan), advice_text(plan, memory_advice(study)));
        return Exit::does_not_fit;
    }
    fmt::print("{}: fine: {} ranks on {} nodes of {}, fullest stage {} of {}\n", job_path(arguments),
               plan.job.layout.ranks(), plan.job.nodes, plan.machine.name, to_text(fullest.memory.total()),
               to_text(plan.device.memory));
    return Exit::ok;
}

// A shipped machine's name, or a file with what jobs do not have.
bool names_machine(const std::string& name) {
    if (std::ranges::binary_search(machine_names(), name)) return true;
    if (!is_path(name)) return false;
    SourceFile file{name, read_text(name)};
    if (find_format(file) != nullptr) return false;
    const Field root = Document::parse(name, std::move(file.text)).root();
    return root.has("links") || root.has("libraries") || root.has("extends");
}

Exit run_check(const po::variables_map& arguments) {
    if (!names_machine(job_path(arguments))) return check_job(arguments);
    if (arguments.count("set")) throw po::error("--set: overrides keys of a job, not of a machine");
    fmt::print("{}", served_text(job_path(arguments)));
    return Exit::ok;
}

}  // namespace

extern const Command check;
const Command check{
    .name = "check",
    .summary = "read a job and plan it, or read a machine: every mistake at once",
    .usage = "weft check JOB|MACHINE [--set KEY=VALUE]...",
    .details =
        "Of a machine it says which frameworks, by which kind of parallelism, its libraries can serve.\n"
        "Exit codes: 0 the job could run, 3 mistakes in the input, 4 it does not fit in memory.",
    .options = add_job_options,
    .run = run_check,
    .group = CommandGroup::inspect,
};

}  // namespace weft::commands
