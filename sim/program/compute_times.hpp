// How long each computation of a program takes if nothing slows it: its work, and under jitter as much longer as its
// number among the computations of its rank says. Only these numbers are kept.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

#include "sim/base/instant.hpp"
#include "sim/base/quantity.hpp"
#include "sim/base/table.hpp"
#include "sim/program/program.hpp"

namespace weft {

class ComputeTimes {
  public:
    // `program` must outlive this.
    explicit ComputeTimes(const Program& program) : program_(program) {
        if (program.jitter.spread == 0.0) return;
        numbers_ = Table<OpId, std::uint32_t>(program.ops.size());
        std::uint32_t number = 0;
        for (const RankClass& rank_class : program.classes) {
            for (std::uint32_t op = rank_class.begin_op(); op < rank_class.end_op(); ++op) {
                if (op == rank_class.begin_op() || op == rank_class.first_op) number = 0;
                numbers_[OpId{op}] = number;
                const Op& what = program.ops[OpId{op}];
                if (is_jittered(what)) ++number;
                if (what.kind == OpKind::leave) number = 0;
                if (what.kind != OpKind::routine) continue;
                const Routine& routine = program.routines[RoutineId(what.subject)];
                number += numbers_[OpId{routine.first_op + routine.ops}];
            }
        }
    }

    // Whether a computation of a routine takes the same time whenever it runs.
    bool are_constant() const { return numbers_.empty(); }

    // Of a computation of the class that `rank` represents. `caller`: what runs it, if it is one of a routine.
    Seconds of(OpId op, RankId rank, std::optional<OpId> caller = {}) const {
        return program_.work[program_.ops[op].subject] * factor(op, rank, caller);
    }
    // By how much that is longer than its work.
    double factor(OpId op, RankId rank, std::optional<OpId> caller = {}) const {
        if (are_constant() || !is_jittered(program_.ops[op])) return 1.0;
        return program_.jitter.factor(rank, numbers_[op] + (caller ? numbers_[*caller] : 0));
    }

  private:
    bool is_jittered(const Op& op) const { return op.kind == OpKind::compute && op.lane == program_.contended; }

    const Program& program_;
    Table<OpId, std::uint32_t> numbers_;  // such computations before each, of its class or routine; none: no jitter
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
