#include "sim/engine/timeline.hpp"

#include <limits>
#include <utility>

namespace weft {
namespace {

std::size_t unfolded_ops(const Program& program) {
    std::size_t ops = 0;
    for (const RankClass& rank_class : program.classes) {
        for (OpId op{rank_class.first_op}; index(op) < rank_class.end_op(); op = next(op)) {
            const Op& what = program.ops[op];
            ops += what.kind == OpKind::routine ? program.routines[RoutineId(what.subject)].ops : 1;
        }
    }
    return ops;
}

// Writes a program out. Ops are numbered in order; so are exchanges, by their first op.
class Unfolding {
  public:
    explicit Unfolding(const Program& program)
        : program_(program),
          first_exchange_(program.exchanges.size(), none),
          last_exchange_(program.ops.size(), none) {}

    Program write() {
        write_tables();
        const std::size_t ops = unfolded_ops(program_);
        unfolded_.ops.reserve(ops);
        unfolded_.predecessors.reserve(ops);
        unfolded_.successor_start.reserve(ops + 1);
        unfolded_.successors.reserve(ops + ops / 2);
        first_.reserve(program_.ops.size() + 1);
        for (const RankClass& rank_class : program_.classes) write_class(rank_class);
        first_.push_back(size());
        write_successors();
        return std::move(unfolded_);
    }

  private:
    static constexpr ExchangeId none{std::numeric_limits<std::uint32_t>::max()};

    std::uint32_t size() const { return static_cast<std::uint32_t>(unfolded_.ops.size()); }

    void write_tables() {
        unfolded_.lanes = program_.lanes;
        unfolded_.labels = program_.labels;
        unfolded_.work = program_.work;
        unfolded_.legs = program_.legs;
        unfolded_.methods = program_.methods;
        unfolded_.communications = program_.communications;
        unfolded_.patterns = program_.patterns;
        unfolded_.interference = program_.interference;
        unfolded_.contended = program_.contended;
        unfolded_.jitter = program_.jitter;
    }

    void write_class(const RankClass& rank_class) {
        first_.resize(rank_class.first_op, size());  // of routines: nothing
        RankClass written = rank_class;
        written.first_op = size();
        written.routine_ops = 0;
        for (std::uint32_t i = rank_class.first_op; i < rank_class.end_op(); ++i) {
            first_.push_back(size());
            const Op& op = program_.ops[OpId{i}];
            if (op.kind == OpKind::routine) {
                write_routine(op, program_.predecessors[OpId{i}]);
            } else {
                add(OpId{i}, op, program_.predecessors[OpId{i}]);
            }
        }
        written.ops = size() - written.first_op;
        unfolded_.classes.push_back(std::move(written));
    }

    void write_routine(const Op& caller, std::uint32_t predecessors) {
        const Routine& routine = program_.routines[RoutineId(caller.subject)];
        for (std::uint32_t i = routine.first_op; i < routine.first_op + routine.ops; ++i) {
            const std::uint32_t before = program_.predecessors[OpId{i}];
            Op op = program_.ops[OpId{i}];
            if (op.kind != OpKind::join) op.index = caller.index, op.part += caller.part;
            add(OpId{i}, op, before == 0 ? predecessors : before);
        }
    }

    // `op`: as it is to be written.
    void add(OpId id, Op op, std::uint32_t predecessors) {
        if (op.kind == OpKind::exchange) op.subject = static_cast<std::uint32_t>(next_exchange(id));
        unfolded_.predecessors.push_back(predecessors);
        unfolded_.ops.push_back(op);
    }

    // Each party of an exchange takes part in what that becomes time after time, from the first on.
    ExchangeId next_exchange(OpId party) {
        const auto exchange = ExchangeId(program_.ops[party].subject);
        ExchangeId& last = last_exchange_[party];
        ExchangeId& next = last == none ? first_exchange_[exchange] : after_exchange_[last];
        if (next != none) return last = next;
        last = next = unfolded_.exchanges.push_back(program_.exchanges[exchange]);
        after_exchange_.push_back(none);
        return last;
    }

    void write_successors() {
        for (const RankClass& rank_class : program_.classes) {
            for (std::uint32_t i = rank_class.first_op; i < rank_class.end_op(); ++i) {
                const Op& op = program_.ops[OpId{i}];
                if (op.kind == OpKind::routine) {
                    write_routine_successors(OpId{i}, program_.routines[RoutineId(op.subject)]);
                } else {
                    begin_successors();
                    add_successors(OpId{i});
                }
            }
        }
        begin_successors();
    }

    // What leaves a routine has the successors of its caller.
    void write_routine_successors(OpId caller, const Routine& routine) {
        const OpId leave{routine.first_op + routine.ops};
        for (std::uint32_t i = 0; i < routine.ops; ++i) {
            begin_successors();
            for (const OpId next : program_.successors_of(OpId{routine.first_op + i})) {
                if (next == leave) {
                    add_successors(caller);
                } else {
                    const auto number = static_cast<std::uint32_t>(next) - routine.first_op;
                    unfolded_.successors.push_back(OpId{first_[index(caller)] + number});
                }
            }
        }
    }

    void begin_successors() {
        unfolded_.successor_start.push_back(static_cast<std::uint32_t>(unfolded_.successors.size()));
    }

    void add_successors(OpId op) {
        for (const OpId next : program_.successors_of(op)) unfolded_.successors.push_back(OpId{first_[index(next)]});
    }

    const Program& program_;
    Program unfolded_;
    std::vector<std::uint32_t> first_;              // op that each op becomes; and the end
    Table<ExchangeId, ExchangeId> first_exchange_;  // that each exchange becomes
    Table<ExchangeId, ExchangeId> after_exchange_;  // of those that are written: what the same becomes the next time
    Table<OpId, ExchangeId> last_exchange_;         // that each op took part in
};

}  // namespace

Program unfold(const Program& program) { return Unfolding(program).write(); }

Timeline unfold(const Program& program, Timeline timeline) {
    if (program.routines.empty()) return timeline;
    Table<OpId, Span> spans;
    spans.reserve(unfolded_ops(program));
    for (RankClassId id{}; id != program.classes.end_id(); id = next(id)) {
        const RankClass& rank_class = program.classes[id];
        RoutineParts::Reader parts(timeline.parts[id]);
        for (std::uint32_t i = rank_class.first_op; i < rank_class.end_op(); ++i) {
            const Op& op = program.ops[OpId{i}];
            if (op.kind != OpKind::routine) {
                spans.push_back(timeline.spans[OpId{i}]);
                continue;
            }
            parts.visit_run(program.routines[RoutineId(op.subject)], [&](const RoutinePart& part) {
                timeline.visit(part, [&spans](OpId, const Span& span) { spans.push_back(span); });
            });
        }
    }
    timeline.spans = std::move(spans);
    timeline.parts = {};
    timeline.routine_times = {};
    return timeline;
}

}  // namespace weft
