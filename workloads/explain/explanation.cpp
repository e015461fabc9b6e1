#include "workloads/explain/explanation.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/engine/timeline.hpp"
#include "workloads/step/lanes.hpp"

namespace weft {
namespace {

// The stage on which a path spends the most time; of equals the first.
std::uint32_t main_stage(const Simulation& run, std::span<const PathPiece> path) {
    std::vector<std::int64_t> ticks(run.plan.stages.size(), 0);
    for (const PathPiece& piece : path) {
        ticks[run.step.stage[run.step.program.class_of(piece.op)]] += piece.end.femtoseconds - piece.begin.femtoseconds;
    }
    return static_cast<std::uint32_t>(std::ranges::max_element(ticks) - ticks.begin());
}

std::vector<Slack> slack_of_calls(const Simulation& run, const CriticalPath& path) {
    struct Calls {
        std::vector<std::int64_t> slack;
        std::int64_t transfer = 0;
    };
    const Program& program = run.step.program;
    const std::vector<std::int64_t> slack = path.slack();
    std::map<std::pair<std::string, std::string>, Calls> of;
    std::map<CommunicationId, Calls*> known;
    for (OpId op{}; op != program.ops.end_id(); op = next(op)) {
        if (program.ops[op].kind != OpKind::exchange || slack[index(op)] == 0) continue;
        const CommunicationId id = program.communication_of(program.ops[op]);
        Calls*& calls = known[id];
        if (calls == nullptr) {
            const Communication& what = program.communications[id];
            calls = &of[{lanes::dimension_name(what.dimension), lanes::operation_name(what.op, program.ops[op].lane)}];
        }
        const Span& span = run.timeline.spans[op];
        calls->slack.push_back(slack[index(op)]);
        calls->transfer += span.end.femtoseconds - span.begin.femtoseconds;
    }
    std::vector<Slack> rows;
    for (auto& [key, calls] : of) {
        const auto middle = calls.slack.begin() + static_cast<std::ptrdiff_t>(calls.slack.size() / 2);
        std::ranges::nth_element(calls.slack, middle);
        const std::int64_t least = *std::min_element(calls.slack.begin(), middle + 1);
        rows.push_back({.dimension = key.first,
                        .op = key.second,
                        .calls = calls.slack.size(),
                        .transfer = since_start({calls.transfer}),
                        .least = since_start({least}),
                        .median = since_start({*middle})});
    }
    std::ranges::stable_sort(rows, {}, [](const Slack& row) { return row.median.value; });
    return rows;
}

}  // namespace

std::int64_t Explanation::elsewhere() const { return sum_of<std::int64_t>(causes, &ExplainedCause::elsewhere); }

ExplainedStep simulate_to_explain(const Study& study, SimulationOptions options,
                                  std::unique_ptr<PreparedTopology> prepared) {
    options.kept = Kept::sums;
    ExplainedStep step{.run = simulate_step(make_plan(study), options, std::move(prepared)), .folded = {}};
    step.folded = step.run.step;
    step.run.timeline = unfold(step.folded.program, std::move(step.run.timeline));
    step.run.step.program = unfold(step.folded.program);
    step.run.options.kept = Kept::ops;
    return step;
}

Explanation explain(const Study& study, const ExplainedStep& step) {
    const Simulation& run = step.run;
    const PathCauses causes(study, run);
    const CriticalPath path(run.step.program, run.timeline);
    constexpr std::size_t most_stretches = 10;

    Explanation found;
    found.end = run.timeline.end;
    found.path = path.pieces();
    found.main_stage = main_stage(run, found.path);
    found.shared = Table<LinkClassId, std::int64_t>(run.topology().classes.size(), 0);
    std::map<Cause, ExplainedCause> sums;
    for (const PathPiece& piece : found.path) {
        const bool elsewhere = run.step.stage[run.step.program.class_of(piece.op)] != found.main_stage;
        for (const CauseTime& part : causes.of(piece)) {
            ExplainedCause& sum = sums[part.cause];
            sum.ticks += part.ticks;
            if (elsewhere) sum.elsewhere += part.ticks;
            if (part.cause.name != "sharing") continue;
            for (const LinkClassId crossed : causes.crossed(piece.op)) found.shared[crossed] += part.ticks;
        }
    }
    for (auto& [cause, sum] : sums) {
        sum.cause = cause;
        found.causes.push_back(sum);
    }
    std::ranges::stable_sort(found.causes, std::ranges::greater{}, &ExplainedCause::ticks);
    found.stretches = longest_stretches(run, found.path, causes, most_stretches);
    found.slack = slack_of_calls(run, path);
    found.rooflines = {.stage = found.main_stage,
                       .device = device_roofline(run.plan, found.main_stage),
                       .fabric = fabric_roofline(run, causes, found.main_stage)};
    return found;
}

}  // namespace weft
