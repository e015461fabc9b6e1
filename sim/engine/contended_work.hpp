// Computation that runs slower while its rank communicates. The communication takes compute units and memory bandwidth
// from kernels beside it, so as long as a rank class has an exchange in transfer, what it computes takes `factor` times
// as long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/base/instant.hpp"
#include "sim/base/table.hpp"
#include "sim/engine/ticks.hpp"
#include "sim/event/finish_queue.hpp"
#include "sim/program/program.hpp"

namespace weft {

// Allocates nothing after construction.
class ContendedWork {
  public:
    // Where program.interference is 1, nothing is ever contended and nothing is kept.
    explicit ContendedWork(const Program& program);

    bool is_needed() const { return factor_ > 1.0; }
    bool concerns(const Op& compute) const { return is_needed() && compute.lane == program_.contended; }

    // An op that it concerns begins; undisturbed it would take `ticks`. One at a time of a class: its lane holds back
    // the next.
    void start(Instant now, RankClassId rank_class, OpId compute, std::int64_t ticks);
    // The same of an op that began before, with that beside it and, until then, an exchange of its own unit.
    void resume(Instant now, RankClassId rank_class, OpId compute, std::int64_t ticks, Instant begin,
                Disturbance beside, Instant transfer_over);
    Disturbance beside(RankClassId rank_class) const {
        return is_needed() && work_[rank_class].transfers > 0 ? Disturbance::transfer : Disturbance::none;
    }
    bool is_under_way(RankClassId rank_class) const { return ends_.contains(rank_class); }

    // An exchange in which the class takes part begins to move, or is over.
    void begin_transfer(RankClassId rank_class);
    void end_transfer(RankClassId rank_class);

    // Call when everything of an instant has happened, and before next(): what comes and goes within an instant has no
    // effect, in whatever order.
    void settle(Instant now);
    // When the next op is over; Instant::never() if none is under way.
    Instant next() const { return ends_.next(); }
    // Takes it out. There must be one.
    OpId pop();

  private:
    // Of a rank class.
    struct Work {
        OpId op{};
        std::int64_t ticks = 0;
        WorkProgress progress;  // as of the last settling
        std::uint32_t transfers = 0;
        Disturbance beside{};     // since then
        bool is_changed = false;  // listed in changed_
    };

    void mark(RankClassId rank_class);
    void settle(RankClassId rank_class, Instant now);

    const Program& program_;
    double factor_;
    Table<RankClassId, Work> work_;
    std::vector<RankClassId> changed_;
    FinishQueue<RankClassId> ends_;
};

}  // namespace weft
