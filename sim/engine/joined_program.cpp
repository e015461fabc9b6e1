#include "sim/engine/joined_program.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "sim/base/check.hpp"

namespace weft {
namespace {

// Appends parts to a program.
class Joiner {
  public:
    explicit Joiner(Program& joined) : joined_(joined) {
        joined_.labels.push_back("begin");
        joined_.patterns.push_back({});
        joined_.methods.emplace_back();
        joined_.ops.successor_start.push_back(0);
    }

    void add(const ProgramPart& part) {
        const Program& program = *part.program;
        WEFT_CHECK(program.routines.empty() && part.runs > 0, "a part has no routines and runs at least once");
        WEFT_CHECK(program.lanes == joined_.lanes && program.interference == joined_.interference, "lanes differ");
        base_ = {joined_.labels.size(), joined_.work.size(), joined_.patterns.size(), joined_.exchanges.size()};
        joined_.labels.insert(joined_.labels.end(), program.labels.begin(), program.labels.end());
        WEFT_CHECK(joined_.labels.size() <= std::numeric_limits<std::uint16_t>::max(), "too many labels");
        joined_.work.insert(joined_.work.end(), program.work.begin(), program.work.end());
        for (Pattern pattern : program.patterns) {
            for (LinkLoad& each : pattern.loads) each.link = part.move(each.link);
            joined_.patterns.push_back(std::move(pattern));
        }
        add_exchanges(part);
        const ComputeTimes works(program);
        for (RankClassId id{}; id != program.classes.end_id(); id = next(id)) {
            const RankClass& one = program.classes[id];
            joined_.ops.begin_class();
            joined_.classes.push_back({.name = part.name + one.name,
                                       .representative = part.move(one.representative),
                                       .weight = one.weight,
                                       .first_op = size(),
                                       .ops = part.runs * (one.ops + 1),
                                       .course = size()});
            for (std::uint32_t run = 0; run < part.runs; ++run) add(part, works, id, run);
            joined_.ops.places.add_class(part.runs * (one.ops + 1), (joined_.classes.end() - 1)->course);
        }
    }

  private:
    std::uint32_t size() const { return static_cast<std::uint32_t>(joined_.ops.kept.size()); }

    // Those of a run follow the one in which all classes begin it.
    void add_exchanges(const ProgramPart& part) {
        const Program& program = *part.program;
        const auto first_leg = static_cast<std::uint32_t>(joined_.legs.size());
        const auto first = static_cast<std::uint32_t>(joined_.communications.size());
        const auto first_method = static_cast<std::uint32_t>(joined_.methods.size());
        joined_.methods.insert(joined_.methods.end(), program.methods.begin(), program.methods.end());
        const auto parties = static_cast<std::uint32_t>(program.classes.size());
        for (Leg leg : program.legs) {
            leg.pattern = PatternId(static_cast<std::uint32_t>(base_.patterns + index(leg.pattern)));
            joined_.legs.push_back(leg);
        }
        for (Communication what : program.communications) {
            what.first_leg += first_leg;
            what.method += first_method;
            joined_.communications.push_back(what);
        }
        const CommunicationId meeting = joined_.communications.push_back({});
        const CommunicationId start =
            joined_.communications.push_back({.first_leg = static_cast<std::uint32_t>(joined_.legs.size()), .legs = 1});
        joined_.legs.push_back({.pattern = PatternId{0}, .latency = part.start});
        for (std::uint32_t run = 0; run < part.runs; ++run) {
            joined_.exchanges.push_back({run == 0 ? start : meeting, parties});
            for (const auto& [communication, members] : program.exchanges) {
                const auto number = first + static_cast<std::uint32_t>(communication);
                joined_.exchanges.push_back({CommunicationId{number}, members});
            }
        }
    }

    // What waits for nothing in a run waits for its begin, and what nothing in it waits for, for the next begin does.
    void add(const ProgramPart& part, const ComputeTimes& works, RankClassId id, std::uint32_t run) {
        const Program& program = *part.program;
        const RankClass& one = program.classes[id];
        const auto exchange = static_cast<std::uint32_t>(base_.exchanges + run * (program.exchanges.size() + 1));
        const std::uint32_t begin = size(), moved = begin + 1 - one.first_op;
        std::vector<std::uint32_t>& all = joined_.ops.successors;
        std::uint32_t ends = 0;
        for (OpId op{one.first_op}; index(op) < one.end_op(); op = next(op)) {
            if (program.predecessors_of(op) == 0) all.push_back(static_cast<std::uint32_t>(op) + moved);
            if (program.successors_of(op).empty()) ++ends;
        }
        append({.kind = OpKind::exchange, .subject = exchange, .index = run}, run == 0 ? 0 : ends);
        for (OpId number{one.first_op}; index(number) < one.end_op(); number = next(number)) {
            Op op = program.ops.at(number, id);
            op.label = LabelId(static_cast<std::uint16_t>(base_.labels + index(op.label)));
            if (op.kind == OpKind::compute && works.are_constant()) {
                op.subject += static_cast<std::uint32_t>(base_.work);
            } else if (op.kind == OpKind::compute) {  // parts have jitter of their own, in each run the same
                op.subject = static_cast<std::uint32_t>(joined_.work.size());
                joined_.work.push_back(works.of(number, id));
            }
            if (op.kind == OpKind::exchange) op.subject += exchange + 1;
            const OpList successors = program.successors_of(number);
            for (const OpId after : successors) all.push_back(static_cast<std::uint32_t>(after) + moved);
            if (successors.empty() && run + 1 < part.runs) all.push_back(one.end_op() + moved);
            append(op, std::max(program.predecessors_of(number), 1U));
        }
    }

    // Its successors are there.
    void append(const Op& op, std::uint32_t predecessors) {
        Operations& ops = joined_.ops;
        ops.append(op, predecessors);
        WEFT_CHECK(ops.successors.size() < std::numeric_limits<std::uint32_t>::max(), "too many dependencies");
        ops.successor_start.push_back(static_cast<std::uint32_t>(ops.successors.size()));
    }

    Program& joined_;
    struct {
        std::size_t labels, work, patterns, exchanges;
    } base_{};  // where those of the part begin
};

}  // namespace

JoinedProgram join(std::vector<ProgramPart> parts) {
    WEFT_CHECK(!parts.empty(), "nothing to join");
    const Program& first = *parts.front().program;
    JoinedProgram joined;
    joined.program.lanes = first.lanes;
    joined.program.interference = first.interference;
    joined.program.contended = first.contended;
    Joiner joiner(joined.program);
    for (const ProgramPart& part : parts) {
        joined.first_class.push_back(joined.program.classes.end_id());
        joiner.add(part);
    }
    joined.parts = std::move(parts);
    return joined;
}

// Of a class, run lies behind run, each behind the op that begins it.
PartRun run_of(const JoinedProgram& joined, const Timeline& timeline, std::size_t part, std::uint32_t number) {
    PartRun run;
    RankClassId joined_class = joined.first_class[part];
    for (const RankClass& one : joined.parts[part].program->classes) {
        const std::uint32_t begin = joined.program.classes[joined_class].first_op + number * (one.ops + 1);
        run.begin = timeline.spans[OpId{begin}].end;
        for (std::uint32_t i = 1; i <= one.ops; ++i) {
            Span span = timeline.spans[OpId{begin + i}];
            for (Instant* const at : {&span.posted, &span.begin, &span.end}) at->femtoseconds -= run.begin.femtoseconds;
            run.timeline.end = std::max(run.timeline.end, span.end);
            run.timeline.spans.push_back(span);
        }
        joined_class = next(joined_class);
    }
    run.end = {run.begin.femtoseconds + run.timeline.end.femtoseconds};
    return run;
}

}  // namespace weft
