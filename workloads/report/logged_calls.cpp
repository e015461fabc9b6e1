#include "workloads/report/logged_calls.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/check.hpp"
#include "workloads/layout/placed_groups.hpp"
#include "workloads/report/simulation.hpp"
#include "workloads/stage/stage_script.hpp"
#include "workloads/volume/volume.hpp"

namespace weft {
namespace {

// Exchanges of a rank class in the order in which its script has their calls.
class ExchangeSpans {
  public:
    ExchangeSpans(const Simulation& run, std::uint32_t stage) : run_(run) {
        const auto& stages = run.step.stage;
        const auto index = static_cast<std::uint32_t>(std::find(stages.begin(), stages.end(), stage) - stages.begin());
        const RankClass& own = run.step.program.classes[RankClassId{index}];
        next_ = own.first_op;
        end_ = own.first_op + own.ops;
    }

    // From the call to its end. LogicError if the next exchange is not `call`.
    Seconds latency_of(const Call& call) {
        const Program& program = run_.step.program;
        while (next_ < end_ && program.ops[OpId{next_}].kind != OpKind::exchange) ++next_;
        WEFT_CHECK(next_ < end_, "a script has more calls than its program");
        const OpId op{next_++};
        const Exchange& exchange = program.exchanges[ExchangeId{program.ops[op].subject}];
        const Communication& done = program.communications[exchange.communication];
        WEFT_CHECK(done.op == call.op && done.message == call.message, "a program has other calls than its script");
        const Span& span = run_.timeline.spans[op];
        return span.end - span.posted;
    }

    bool at_end() const {
        for (std::uint32_t i = next_; i < end_; ++i) {
            if (run_.step.program.ops[OpId{i}].kind == OpKind::exchange) return false;
        }
        return true;
    }

  private:
    const Simulation& run_;
    std::uint32_t next_ = 0, end_ = 0;
};

// The logged calls of `script`, which `run` has simulated.
std::vector<LoggedCall> timed(const Script& script, const Simulation& run, RankId rank) {
    const Job& job = run.plan.job;
    const Library& library = run.plan.machine.library();
    const Seconds alone = library.launch + library.blocking;  // of a call in a group of one
    std::vector<std::uint32_t> sizes;
    for (const Call& call : script.calls()) sizes.push_back(group_size(call.group, job.layout, rank));
    ExchangeSpans spans(run, job.layout.grid().coordinate(rank, "pipeline"));
    std::vector<LoggedCall> log;
    for (const Action& action : script.actions()) {
        if (action.kind != Action::Kind::call && action.kind != Action::Kind::issue) continue;
        const Call& call = script.calls()[action.subject];
        const std::uint32_t size = sizes[action.subject];
        const Seconds latency = size == 1 ? alone : spans.latency_of(call);
        if (call.through != Through::deepspeed) continue;
        WEFT_CHECK(action.kind == Action::Kind::call, "a logged call blocks");
        log.push_back({logged_name(call), logged_size(call, size), latency});
    }
    WEFT_CHECK(spans.at_end(), "a program has more calls than its script");
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
        throw RangeError(
            fmt::format("{} steps of {} logged calls; at most {} calls are logged", steps, steady.size(), most_logged));
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
