// What a step does, as an immutable graph: operations with dependencies, one list per rank class. Ranks that do the
// same at the same kind of place are one class with a weight. Arrays only; built by ProgramBuilder, run by Engine.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/base/hash.hpp"
#include "sim/base/instant.hpp"
#include "sim/base/quantity.hpp"
#include "sim/base/table.hpp"
#include "sim/collective/algorithm.hpp"
#include "sim/network/network_model.hpp"
#include "sim/program/operations.hpp"

namespace weft {

// Computation that takes another time whenever it runs: kernels take 1 + x times as long, x uniform from 0 to below 2
// `spread`: `spread` is the mean lengthening. Uniform claims nothing about a machine but mean and bound, and has closed
// forms: of n ranks that wait for one another, the slowest takes 1 + 2 spread n / (n + 1) times as long on average.
struct Jitter {
    double spread = 0.0;  // 0 to 1; 0: none
    std::uint32_t seed = 0;

    // By how much the n-th computation of a rank is longer: f(seed, rank, n).
    double factor(RankId rank, std::uint64_t computation) const {
        const std::uint64_t random = hash_of({seed, index(rank), computation});
        const double share = static_cast<double>(random >> 11) * 0x1p-53;  // the 53 bits of a double: 0 to below 1
        return 1.0 + 2.0 * spread * share;
    }
    bool operator==(const Jitter&) const = default;
};

// One stage of a communication on the wire: latency first, then `bytes` on a pattern. bytes may be 0.
struct Leg {
    PatternId pattern{};
    Seconds latency{};
    Bytes bytes{};
};

// How a library carries a communication.
struct Method {
    std::string algorithm, protocol;
    std::uint32_t channels = 0;  // of each group; 0 for groups of one
    bool operator==(const Method&) const = default;
};

// A communication that can happen many times: its legs in order, and what it is.
struct Communication {
    Collective op{};
    LaneId dimension{};            // the lane it belongs to
    std::uint32_t group_size = 1;  // members of one group
    std::uint32_t groups = 1;      // groups that do it together (folded)
    Bytes message{};               // full buffer of one call of one group (nccl-tests convention)
    std::uint32_t first_leg = 0, legs = 0;
    std::uint32_t method = 0;  // of Program::methods
};

// One occurrence: it starts when `parties` ops (one per participating rank class) have arrived.
struct Exchange {
    CommunicationId communication{};
    std::uint32_t parties = 1;
};

// Ops that a rank class runs again and again, written once: a row of units, each of which is one op, or an exchange
// and a computation beside it, but for the first and the last. All ops of a unit wait for those of the unit
// before and for nothing else. An exchange happens anew each time; all that take part in it do so in routines of
// theirs, which run as often. A class runs one at a time.
struct Routine {
    std::uint32_t first_op = 0, ops = 0;  // before the one that leaves it; in Program::routines, where they are kept
};

struct RankClass {
    std::string name;
    RankId representative{};
    std::uint32_t weight = 1;  // ranks that it stands for
    std::uint32_t first_op = 0, ops = 0;
    std::uint32_t routine_ops = 0;  // right before the first op: those of its routines
    std::uint32_t course = 0;       // where its ops, from those on, are kept

    std::uint32_t begin_op() const { return first_op - routine_ops; }
    std::uint32_t end_op() const { return first_op + ops; }
    std::uint32_t past_course() const { return course + routine_ops + ops; }
};

// What operations refer to.
struct ProgramTables {
    std::vector<std::string> lanes;
    std::vector<std::string> labels;
    std::vector<Seconds> work;
    std::vector<Leg> legs;
    std::vector<Method> methods;  // the first has no names: that of communications which nobody chose one for
    Table<CommunicationId, Communication> communications;
    Table<PatternId, Pattern> patterns;
    // How much longer the compute ops of a class on lane `contended` take while it has an exchange in transfer. Those
    // of other lanes (the host's, say) do not share the device with it.
    double interference = 1.0;
    LaneId contended{};
    Jitter jitter{};  // of computation on that lane
};

struct Program : ProgramTables {
    Table<RankClassId, RankClass> classes;
    Operations ops;
    Table<RoutineId, Routine> routines;  // as they are kept
    Table<ExchangeId, Exchange> exchanges;

    RankClassId class_of(OpId op) const { return ops.places.class_of(op); }
    OpList successors_of(OpId op) const { return ops.successors_of(op); }
    std::uint32_t predecessors_of(OpId op) const { return ops.predecessors[ops.places.kept(op)]; }
    // The one that `caller` runs.
    Routine routine_of(OpId caller, RankClassId rank_class) const {
        Routine own = routines[RoutineId(ops.shared(caller, rank_class).subject)];
        own.first_op = static_cast<std::uint32_t>(ops.places.op(own.first_op, rank_class));
        return own;
    }
    // How many ops of routines a class runs, each as often as it does.
    std::size_t repeated_ops(const RankClass& own) const {
        const auto called = std::span(ops.kept).subspan(own.course + own.routine_ops, own.ops);
        return sum_of<std::size_t>(called, [this](const Op& op) {
            return op.kind == OpKind::routine ? routines[RoutineId(op.subject)].ops : 0U;
        });
    }
    std::span<const Leg> legs_of(const Communication& what) const {
        return std::span(legs).subspan(what.first_leg, what.legs);
    }
    CommunicationId communication_of(const Op& exchange) const {
        return exchanges[ExchangeId(exchange.subject)].communication;
    }
};

// Calls see(RankClassId) for the first class of each course, in the order in which those are kept.
template <class See>
void for_each_course(const Program& program, See see) {
    std::uint32_t past = 0;  // the courses before
    for (RankClassId id{}; id != program.classes.end_id(); id = next(id)) {
        if (program.classes[id].course < past) continue;
        past = program.classes[id].past_course();
        see(id);
    }
}

// Calls see(const Op&, times) for the ops of all classes, as those have them, and of their routines that run, but for
// those that leave: how often each does.
template <class See>
void for_each_run(const Program& program, See see) {
    std::vector<std::uint32_t> runs(program.ops.kept.size(), 1);  // of routines, from their first ops on
    for (const Routine& routine : program.routines) std::fill_n(runs.begin() + routine.first_op, routine.ops + 1, 0);
    for (const Op& op : program.ops.kept) {
        if (op.kind != OpKind::routine) continue;
        const Routine& routine = program.routines[RoutineId(op.subject)];
        for (std::uint32_t i = 0; i < routine.ops; ++i) ++runs[routine.first_op + i];
    }
    for (RankClassId id{}; id != program.classes.end_id(); id = next(id)) {
        const RankClass& own = program.classes[id];
        for (std::uint32_t number = own.course; number < own.past_course(); ++number) {
            if (runs[number] > 0) see(program.ops.at(program.ops.places.op(number, id), id), runs[number]);
        }
    }
}

// How long each computation of a program takes if nothing slows it: its work, and under jitter as much longer as its
// number among the computations of its rank says. Only these numbers are kept.
class ComputeTimes {
  public:
    // `program` must outlive this.
    explicit ComputeTimes(const Program& program) : program_(program) {
        if (program.jitter.spread == 0.0) return;
        numbers_.resize(program.ops.kept.size());
        for_each_course(program, [&](RankClassId id) {
            const RankClass& own = program.classes[id];
            std::uint32_t number = 0;
            for (std::uint32_t op = own.course; op < own.past_course(); ++op) {
                if (op == own.course + own.routine_ops) number = 0;
                numbers_[op] = number;
                const Op& what = program.ops.kept[op];
                if (is_jittered(what)) ++number;
                if (what.kind == OpKind::leave) number = 0;
                if (what.kind != OpKind::routine) continue;
                const Routine& routine = program.routines[RoutineId(what.subject)];
                number += numbers_[routine.first_op + routine.ops];
            }
        });
    }

    // Whether a computation of a routine takes the same time whenever it runs.
    bool are_constant() const { return numbers_.empty(); }

    // Of a computation of a class. `caller`: what runs it, if it is one of a routine.
    Seconds of(OpId op, RankClassId rank_class, std::optional<OpId> caller = {}) const {
        return program_.work[program_.ops.shared(op, rank_class).subject] * factor(op, rank_class, caller);
    }
    // By how much that is longer than its work.
    double factor(OpId op, RankClassId rank_class, std::optional<OpId> caller = {}) const {
        if (are_constant() || !is_jittered(program_.ops.shared(op, rank_class))) return 1.0;
        return program_.jitter.factor(program_.classes[rank_class].representative,
                                      number(op, rank_class) + (caller ? number(*caller, rank_class) : 0));
    }

  private:
    bool is_jittered(const Op& op) const { return op.kind == OpKind::compute && op.lane == program_.contended; }
    std::uint32_t number(OpId op, RankClassId rank_class) const {
        return numbers_[program_.ops.places.kept(op, rank_class)];
    }

    const Program& program_;
    std::vector<std::uint32_t>
        numbers_;  // by kept op: such computations before it, of its class or routine; none: no jitter
};

// What the computations of a rank class have beside them: an exchange in transfer, which slows them, or nothing.
enum class Disturbance : std::uint8_t { none, transfer };

// How far a computation has come that runs slower beside communication: exact on the clock. Of an op that takes w ticks
// undisturbed, what is left after c ticks undisturbed and s beside communication is w - c - s / factor undisturbed, or
// factor (w - c) - s beside it; rounded once, from numbers that were never rounded before, however often communication
// comes and goes.
struct WorkProgress {
    Instant since;  // until when these are counted, in ticks
    std::int64_t clean = 0, contended = 0;

    void advance(Instant now, Disturbance beside) {
        (beside == Disturbance::transfer ? contended : clean) += now.femtoseconds - since.femtoseconds;
        since = now;
    }
    // In ticks, of `work` ticks, as long as what is beside it stays; at most the end of the clock.
    std::int64_t left(std::int64_t work, Disturbance beside, double factor) const {
        if (beside == Disturbance::transfer) return scaled(work - clean, factor) - contended;
        return contended == 0 ? work - clean : work - clean - std::llround(static_cast<double>(contended) / factor);
    }
};

}  // namespace weft
