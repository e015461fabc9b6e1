// How long each computation of a program takes if nothing slows it: its work, and under jitter as much longer as its
// number among the computations of its rank says. Only these numbers are kept.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/base/quantity.hpp"
#include "sim/base/table.hpp"
#include "sim/program/program.hpp"

namespace weft {

class ComputeTimes {
  public:
    // `program` must outlive this.
    explicit ComputeTimes(const Program& program);

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

}  // namespace weft
