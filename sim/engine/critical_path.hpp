// Which ops the length of a run is made of, and how much later the others could be over. After J. E. Kelley,
// "Critical-path planning and scheduling: mathematical basis", Operations Research 9 (1961) 296-320, with one more kind
// of edge: an exchange begins when the last of its parties arrives.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/instant.hpp"
#include "sim/base/table.hpp"
#include "sim/engine/exchanges.hpp"
#include "sim/engine/timeline.hpp"
#include "sim/program/program.hpp"

namespace weft {

// An op that the path goes through, from `begin` to `end`: the begin and the end of its span. Of several parties of an
// exchange, the one on whose class the path goes on.
struct PathPiece {
    OpId op{};
    Instant begin, end;
};

// Of a program without routines (sim/engine/unfold.hpp) and its timeline; both must outlive this.
class CriticalPath {
  public:
    CriticalPath(const Program& program, const Timeline& timeline);

    // In order of time, each beginning where the one before is over: the first at 0, the last over with the run. Of ops
    // that bind as late, one of the same class and computation come first, so that the path changes classes, and leaves
    // computing, where it must. What takes no time is left out.
    std::vector<PathPiece> pieces() const;
    // By op, how much longer it could take, in ticks, without the run taking longer, if all else takes as long as it
    // did: 0 on the path, and of an exchange the same for all its parties.
    std::vector<std::int64_t> slack() const;

  private:
    std::span<const OpId> predecessors_of(OpId op) const {
        return {predecessors_.data() + start_[index(op)], predecessors_.data() + start_[index(op) + 1]};
    }
    OpId last_over() const;
    OpId party_that_arrived_last(OpId exchange) const;
    OpId binding_predecessor(OpId op) const;

    const Program& program_;
    const Timeline& timeline_;
    ExchangeOps parties_;
    std::vector<std::uint32_t> start_;  // CSR over OpId, size ops + 1
    std::vector<OpId> predecessors_;
};

}  // namespace weft
