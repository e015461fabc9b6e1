// `weft check JOB`: reads and plans, simulates nothing.
#include <fmt/format.h>

#include <cstdio>

#include "sim/io/units.hpp"
#include "tools/command.hpp"
#include "tools/job_options.hpp"
#include "tools/output/report_text.hpp"
#include "workloads/plan.hpp"

namespace weft::commands {
namespace {

Exit run_check(const po::variables_map& arguments) {
    const Study study = job_study(arguments);
    const Plan plan = make_plan(study);
    const Stage& fullest = plan.stages[plan.fullest_stage()];
    if (!plan.fits()) {
        fmt::print(stderr, "{}: does not fit: stage {} needs {} of {}\n{}{}", job_path(arguments), plan.fullest_stage(),
                   to_text(fullest.memory.total()), to_text(plan.device.memory), memory_text(plan),
                   advice_text(plan, memory_advice(study)));
        return Exit::does_not_fit;
    }
    fmt::print("{}: fine: {} ranks on {} nodes of {}, fullest stage {} of {}\n", job_path(arguments),
               plan.job.layout.ranks(), plan.job.nodes, plan.machine.name, to_text(fullest.memory.total()),
               to_text(plan.device.memory));
    return Exit::ok;
}

}  // namespace

extern const Command check;
const Command check{
    .name = "check",
    .summary = "read a job and plan it; every mistake at once",
    .usage = "weft check JOB [--set KEY=VALUE]...",
    .details = "Exit codes: 0 the job could run, 3 mistakes in the input, 4 it does not fit in memory.",
    .options = add_job_options,
    .run = run_check,
    .group = CommandGroup::inspect,
};

}  // namespace weft::commands
