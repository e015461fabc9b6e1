#include "sim/engine/timeline.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

namespace weft {
namespace {

// Writes a program out. Exchanges are numbered in the order of the first ops that take part in them.
class Unfolding {
  public:
    explicit Unfolding(const Program& program)
        : program_(program),
          first_(program.ops.kept.size() + 1),
          first_exchange_(program.exchanges.size(), none),
          last_exchange_(program.ops.size(), none) {}

    Program write() {
        static_cast<ProgramTables&>(unfolded_) = program_;
        std::size_t ops = 0;
        for_each_course(program_, [&](RankClassId id) {
            ops += program_.classes[id].ops + program_.repeated_ops(program_.classes[id]);
        });
        unfolded_.ops.reserve(ops);
        for (RankClassId id{}; id != program_.classes.end_id(); id = next(id)) write_class(id);
        begin_successors();
        return std::move(unfolded_);
    }

  private:
    static constexpr ExchangeId none{std::numeric_limits<std::uint32_t>::max()};

    std::uint32_t size() const { return static_cast<std::uint32_t>(unfolded_.ops.kept.size()); }
    std::uint32_t kept(OpId op) const { return program_.ops.places.kept(op, id_); }

    void write_class(RankClassId id) {
        id_ = id;
        const RankClass& own = program_.classes[id];
        written_ = own;
        written_.first_op = static_cast<std::uint32_t>(unfolded_.ops.size());
        written_.ops = written_.routine_ops = 0;
        is_first_ = own.course >= past_;
        written_.course = is_first_ ? size() : first_[own.course + own.routine_ops];
        unfolded_.ops.begin_class();
        for (OpId op{own.first_op}; index(op) < own.end_op(); op = next(op)) {
            const Op what = program_.ops.at(op, id);
            if (is_first_) first_[kept(op)] = size();
            if (what.kind == OpKind::routine) {
                write_routine(op, what);
            } else {
                add(op, what, program_.ops.predecessors[kept(op)]);
            }
        }
        if (is_first_) write_successors(own);
        past_ = std::max(past_, own.past_course());
        unfolded_.ops.places.add_class(written_.ops, written_.course);
        unfolded_.classes.push_back(std::move(written_));
    }

    void write_routine(OpId caller, const Op& what) {
        const Routine routine = program_.routine_of(caller, id_);
        for (OpId op{routine.first_op}; index(op) < routine.first_op + routine.ops; op = next(op)) {
            const std::uint32_t before = program_.ops.predecessors[kept(op)];
            Op inner = program_.ops.at(op, id_);
            if (inner.kind != OpKind::join) inner.index = what.index, inner.part += what.part;
            add(op, inner, before == 0 ? program_.ops.predecessors[kept(caller)] : before);
        }
    }

    // `op`: as it is to be written.
    void add(OpId id, Op op, std::uint32_t predecessors) {
        ++written_.ops;
        const bool meets = op.kind == OpKind::exchange;
        if (meets) op.subject = static_cast<std::uint32_t>(next_exchange(id, ExchangeId(op.subject)));
        if (is_first_) return unfolded_.ops.append(op, predecessors);
        if (meets) unfolded_.ops.exchanges.push_back(ExchangeId(op.subject));
    }

    // Each party of an exchange takes part in what that becomes time after time, from the first on.
    ExchangeId next_exchange(OpId party, ExchangeId exchange) {
        ExchangeId& last = last_exchange_[party];
        ExchangeId& next = last == none ? first_exchange_[exchange] : after_exchange_[last];
        if (next != none) return last = next;
        last = next = unfolded_.exchanges.push_back(program_.exchanges[exchange]);
        after_exchange_.push_back(none);
        return last;
    }

    void write_successors(const RankClass& own) {
        const std::uint32_t first = own.course + own.routine_ops;
        for (std::uint32_t op = first; op < first + own.ops; ++op) {
            const Op& what = program_.ops.kept[op];
            if (what.kind == OpKind::routine) {
                write_routine_successors(op, program_.routines[RoutineId(what.subject)]);
            } else {
                begin_successors();
                add_successors(op);
            }
        }
    }

    // What leaves a routine has the successors of its caller.
    void write_routine_successors(std::uint32_t caller, const Routine& routine) {
        for (std::uint32_t i = 0; i < routine.ops; ++i) {
            begin_successors();
            for (const std::uint32_t next : program_.ops.kept_successors(routine.first_op + i)) {
                if (next == routine.first_op + routine.ops) {
                    add_successors(caller);
                } else {
                    unfolded_.ops.successors.push_back(first_[caller] + (next - routine.first_op));
                }
            }
        }
    }

    void begin_successors() {
        unfolded_.ops.successor_start.push_back(static_cast<std::uint32_t>(unfolded_.ops.successors.size()));
    }

    void add_successors(std::uint32_t op) {
        for (const std::uint32_t next : program_.ops.kept_successors(op))
            unfolded_.ops.successors.push_back(first_[next]);
    }

    const Program& program_;
    Program unfolded_;
    RankClassId id_{};                              // the class at hand
    RankClass written_;                             // what it becomes
    bool is_first_ = false;                         // of those that share its course
    std::uint32_t past_ = 0;                        // the courses so far
    std::vector<std::uint32_t> first_;              // op that each becomes, as they are kept
    Table<ExchangeId, ExchangeId> first_exchange_;  // that each exchange becomes
    Table<ExchangeId, ExchangeId> after_exchange_;  // of those that are written: what the same becomes the next time
    Table<OpId, ExchangeId> last_exchange_;         // that each op took part in
};

}  // namespace

Program unfold(const Program& program) { return Unfolding(program).write(); }

Timeline unfold(const Program& program, Timeline timeline) {
    if (program.routines.empty()) return timeline;
    Table<OpId, Span> spans;
    spans.reserve(sum_of<std::size_t>(program.classes,
                                      [&](const RankClass& one) { return one.ops + program.repeated_ops(one); }));
    for (RankClassId id{}; id != program.classes.end_id(); id = next(id)) {
        const RankClass& rank_class = program.classes[id];
        RoutineParts::Reader parts(timeline.parts[id]);
        for (OpId op{rank_class.first_op}; index(op) < rank_class.end_op(); op = next(op)) {
            if (program.ops.at(op, id).kind != OpKind::routine) {
                spans.push_back(timeline.spans[op]);
                continue;
            }
            parts.visit_run(program.routine_of(op, id), [&](const RoutinePart& part) {
                timeline.visit(id, part, [&spans](OpId, const Span& span) { spans.push_back(span); });
            });
        }
    }
    timeline.spans = std::move(spans);
    timeline.parts = {};
    timeline.routine_times = {};
    return timeline;
}

}  // namespace weft
