// The log of DeepSpeed's logger: calls of a script with the times of the run that blocks on each.
#include <algorithm>

#include "sim/base/check.hpp"
#include "workloads/layout/placed_groups.hpp"
#include "workloads/report/simulation.hpp"
#include "workloads/stage/stage_script.hpp"
#include "workloads/volume/volume.hpp"

namespace weft {
namespace {

// Exchanges of the first rank class of a stage, in the order in which its script has their calls.
std::vector<OpId> exchanges_of(const Simulation& run, std::uint32_t stage) {
    const Program& program = run.step.program;
    const auto& stages = run.step.stage;
    const auto number = static_cast<std::uint32_t>(std::find(stages.begin(), stages.end(), stage) - stages.begin());
    const RankClass& own = program.classes[RankClassId{number}];
    std::vector<OpId> exchanges;
    for (OpId op{own.first_op}; index(op) < own.end_op(); op = next(op)) {
        if (program.ops[op].kind == OpKind::exchange) exchanges.push_back(op);
    }
    return exchanges;
}

// The logged calls of `script`, which `run` has simulated.
std::vector<LoggedCall> timed(const Script& script, const Simulation& run, RankId rank) {
    const Job& job = run.plan.job;
    const Library& library = run.plan.machine.library();
    const Seconds alone = library.launch + library.blocking;  // of a call in a group of one
    std::vector<std::uint32_t> sizes;
    for (const Call& call : script.calls()) sizes.push_back(group_size(call.group, job.layout, rank));
    const Program& program = run.step.program;
    const std::vector<OpId> exchanges = exchanges_of(run, job.layout.grid().coordinate(rank, "pipeline"));
    auto exchange = exchanges.begin();
    const auto next_latency = [&](const Call& call) {  // from the call to its end
        WEFT_CHECK(exchange != exchanges.end(), "a script has more calls than its program");
        const Communication& done = program.communications[program.communication_of(program.ops[*exchange])];
        WEFT_CHECK(done.op == call.op && done.message == call.message, "a program has other calls than its script");
        const Span& span = run.timeline.spans[*exchange++];
        return span.end - span.posted;
    };
    std::vector<LoggedCall> log;
    for (const Action& action : script.actions()) {
        if (action.kind != Action::Kind::call && action.kind != Action::Kind::issue) continue;
        const Call& call = script.calls()[action.subject];
        const std::uint32_t size = sizes[action.subject];
        const Seconds latency = size == 1 ? alone : next_latency(call);
        if (call.through != Through::deepspeed) continue;
        WEFT_CHECK(action.kind == Action::Kind::call, "a logged call blocks");
        log.push_back({logged_name(call), logged_size(call, size), latency});
    }
    WEFT_CHECK(exchange == exchanges.end(), "a program has more calls than its script");
    return log;
}

// The same job with the logger switched on.
Study logging(Study study, StepKind kind) {
    WEFT_CHECK(study.job.framework->name == "deepspeed", "only DeepSpeed logs its calls");
    study.job.deepspeed.log_calls = Setting::on;
    study.job.step = kind;
    return study;
}

std::uint32_t stage_of(RankId rank, const Study& study) { return study.job.layout.grid().coordinate(rank, "pipeline"); }

std::vector<LoggedCall> logged_start_up(const Study& study, RankId rank) {
    const Study logged = logging(study, StepKind::first);
    const Simulation run = simulate_start_up(logged, make_plan(logged));
    return timed(start_up_script(run.plan, stage_of(rank, study)), run, rank);
}

}  // namespace

std::vector<LoggedCall> logged_step(const Study& study, RankId rank, StepKind kind) {
    const Study logged = logging(study, kind);
    const Simulation run = simulate_step(logged, make_plan(logged));
    return timed(step_script(run.plan, stage_of(rank, study), kind), run, rank);
}

// Some 50 bytes each, kept as calls and printed as lines.
static constexpr std::size_t most_logged = 10'000'000;

std::vector<LoggedCall> logged_calls(const Study& study, RankId rank, std::uint32_t steps) {
    WEFT_CHECK(steps > 0, "a log is of at least one step");
    const std::vector<LoggedCall> steady = logged_step(study, rank, StepKind::steady);
    if (steps == 1) return steady;
    if (steps > most_logged / std::max(steady.size(), std::size_t{1})) {
        throw RangeError("{} steps of {} logged calls; at most {} calls are logged", steps, steady.size(), most_logged);
    }
    std::vector<LoggedCall> log = logged_start_up(study, rank);
    const auto append = [&log](const std::vector<LoggedCall>& more) {
        log.insert(log.end(), more.begin(), more.end());
    };
    append(logged_step(study, rank, StepKind::first));
    for (std::uint32_t i = 1; i < steps; ++i) append(steady);
    return log;
}

}  // namespace weft
