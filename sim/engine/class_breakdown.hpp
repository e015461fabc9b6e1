// The breakdown of one rank class after another.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/base/table.hpp"
#include "sim/engine/attribution.hpp"
#include "sim/engine/breakdown.hpp"
#include "sim/engine/timeline.hpp"
#include "sim/program/compute_times.hpp"
#include "sim/program/program.hpp"

namespace weft {

// Every kind of call of a program: lane, operation, group size, message and method. Few, so a sorted list.
class CallKinds {
  public:
    CallKinds(const Program& program, LaneId compute);

    // An exchange issued on the compute lane itself belongs to the dimension of its communication.
    LaneId lane_of(const Op& exchange) const { return exchange.lane != compute_ ? exchange.lane : dimension(exchange); }
    // Index into kinds().
    std::uint32_t of(const Op& exchange) const {
        return slot_[shape_[program_.communication_of(exchange)] * lanes_ + index(lane_of(exchange))];
    }
    const std::vector<CallTime>& kinds() const { return kinds_; }

  private:
    LaneId dimension(const Op& exchange) const {
        return program_.communications[program_.communication_of(exchange)].dimension;
    }

    const Program& program_;
    LaneId compute_;
    std::size_t lanes_;
    Table<CommunicationId, std::uint32_t> shape_;  // number of its kind, but for the lane
    std::vector<std::uint32_t> slot_;              // (shape, lane) -> index of the kind
    std::vector<CallTime> kinds_;
};

class ClassBreakdown {
  public:
    // All arguments must outlive this. `place`: of each lane in the order of priority; the compute lane has 0.
    ClassBreakdown(const Program& program, const Timeline& timeline, LaneId compute,
                   const Table<LaneId, std::uint32_t>& place);

    Breakdown of(RankClassId id);

  private:
    // Sums of ticks. A lane and what is issued on the compute lane in its name may each take all of the time.
    struct Ticks {
        std::uint64_t transfer = 0, waiting = 0, calls = 0;
        void add(const Span& span, std::uint64_t times = 1);
        LaneTime time(Seconds exposed) const;
    };
    struct Interval {
        Instant begin, end;
    };

    void clear();
    void add(OpId op, const Span& span, std::optional<OpId> caller = {});
    void count(const Op& exchange, const Span& span, std::uint64_t times);
    std::int64_t delay(OpId compute, const Span& span, std::optional<OpId> caller) const;
    std::uint32_t place_of(const Op& op) const;
    void find_others(const RankClass& rank_class);
    void add_part(const RoutinePart& part, OpId caller);
    void pass_by(std::uint32_t first, std::uint32_t end, Disturbance beside);
    void add_passes(const RankClass& rank_class);
    void add_passes(std::uint32_t unit, std::uint64_t passes, Disturbance beside);
    Breakdown take();

    const Program& program_;
    const Timeline& timeline_;
    ComputeTimes works_;
    LaneId compute_;
    const Table<LaneId, std::uint32_t>& place_;
    CallKinds kinds_;
    Attribution attribution_;
    Table<LaneId, Ticks> lanes_;
    std::vector<Ticks> calls_;     // by kind
    std::vector<Bytes> messages_;  // by kind
    std::int64_t delays_ = 0;
    // What might go on beside routines, in order of time, apart from one another.
    std::vector<Interval> others_;
    // Of the class at hand.
    std::uint32_t begin_op_ = 0;
    RankId rank_{};
    // By disturbance and op from there on: how much more often it went by, with nothing else beside it, than the one
    // before.
    std::array<std::vector<std::int64_t>, 2> passes_;
};

}  // namespace weft
