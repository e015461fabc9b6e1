// When each operation of each rank class happened. The raw result of a run; reports are computed from it.
//
// A routine of the program runs many times, so its ops have no spans of their own: what happened is kept in parts, in
// each of which one op begins when the one before is over, and nothing changes beside them. unfold() makes spans
// of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/base/instant.hpp"
#include "sim/base/table.hpp"
#include "sim/network/traffic_recorder.hpp"
#include "sim/program/program.hpp"

namespace weft {

// What happened of the routines of a rank class, in the order in which it happened.
//
// A routine of the program runs many times, and where computations take other times whenever they run, each of its ops
// has times of its own. So a part is stored as the few bytes by which it differs from what is likeliest: that it is the
// next op, posted when the one before was over.
// Of one run of a routine: one op, or links from op `first` to `end` that went as RoutineTimes says.
struct RoutinePart {
    std::uint32_t first = 0;
    std::uint32_t ops = 0;
    Disturbance beside = Disturbance::none;
    Instant posted, begin, over;  // of more than one op, posted is begin

    std::uint32_t end() const { return first + ops; }
    bool is_one_op() const { return ops == 1; }
};

class RoutineParts {
  public:
    // A part of one op that is posted as the one before ends takes seven, six of them for some milliseconds that it
    // took, and as many again if it waited; more where something went on beside it.
    static constexpr std::size_t usual_bytes = 12;
    // So many parts are added without an allocation, unless they take more than usual.
    void reserve(std::size_t parts) { bytes_.reserve(parts * usual_bytes); }
    void add(const RoutinePart& part);
    // The one added last, or an empty one.
    const RoutinePart& last() const { return last_; }
    void add_before_last(const RoutinePart& part);

    class Reader {
      public:
        // `parts` must outlive this and not change.
        explicit Reader(const RoutineParts& parts)
            : at_(parts.bytes_.data()), end_(at_ + parts.bytes_.size()), last_(&parts.last_) {}
        RoutinePart next();
        // Calls visit(RoutinePart) for those of the next run of the class, which is of this routine.
        template <class Visit>
        void visit_run(const Routine& routine, Visit visit) {
            for (;;) {
                const RoutinePart part = next();
                visit(part);
                if (part.end() == routine.first_op + routine.ops) return;
            }
        }

      private:
        const std::uint8_t* at_;
        const std::uint8_t* end_;
        const RoutinePart* last_;  // none once it was read
        RoutinePart before_;
    };

  private:
    void store(const RoutinePart& part);

    std::vector<std::uint8_t> bytes_;  // of all but the last
    RoutinePart stored_, last_;        // the last one of these, and the last one
};

// Routines here are stretches of a program in which a rank class meets nobody: computations and exchanges of its own
// groups, each after the one before. Of large programs that is nearly everything. Those in what the program calls a
// routine run many times, unless its computations take other times whenever they run; the others run once.
//
// A routine is a row of units, which are ops that follow one another in the program. A unit is one op, or an
// exchange and a computation side by side; its ops wait for those of the unit before and for nothing else, and
// nothing else waits for those. So, as long as nobody interferes, all times of a routine are known before it begins.
class RoutineTimes {
    struct Stay {
        std::int64_t begin = 0, over = 0;
    };

  public:
    static constexpr std::uint32_t fewest_ops = 3;  // of a routine: fewer are not worth looking ahead for

    RoutineTimes() = default;
    // The arguments are needed only here. `transfers`: how many ticks an exchange of one party takes that shares
    // nothing.
    RoutineTimes(const Program& program, const Table<CommunicationId, std::int64_t>& transfers);

    bool empty() const { return ends_.empty(); }
    // Whether the op that is kept there begins a routine, or goes on with one that has as much left.
    bool is_head(std::uint32_t kept) const { return ends_[kept] >= kept + fewest_ops && !is_pair_[kept]; }
    // Of a rank class, whose ops have the numbers that they have in the program.
    class OfClass {
      public:
        // The op past the routine that the unit at `op` belongs to, whose last unit is one op; 0 where there is none.
        std::uint32_t end(std::uint32_t op) const {
            const std::uint32_t number = kept(op), end = times_.ends_[number];
            return end == 0 ? 0 : op + (end - number);
        }
        // How many ops the unit that begins with `op` has.
        std::uint32_t ops_of_unit(std::uint32_t op) const { return times_.is_pair_[kept(op)] ? 2 : 1; }

        // When an op begins and is over, in ticks since its routine began, as long as what is beside it stays as it is;
        // at most the end of the clock.
        std::int64_t begin(std::uint32_t op, Disturbance beside) const { return stay(op, beside).begin; }
        std::int64_t over(std::uint32_t op, Disturbance beside) const { return stay(op, beside).over; }
        // Calls visit(OpId, begin, end) for the ops from one unit of a routine, which begins at `at`, up to another.
        template <class Visit>
        void visit(std::uint32_t first, std::uint32_t end, Instant at, Disturbance beside, Visit visit) const {
            const Stay* const stays = &stay(first, beside);
            const std::int64_t start = at.femtoseconds - stays->begin;
            for (std::uint32_t op = first; op < end; ++op) {
                const Stay& own = stays[op - first];
                visit(OpId{op}, Instant{start + own.begin}, Instant{start + own.over});
            }
        }
        // The last unit of those from `first` up to `end`, in one routine, that begins by then.
        std::uint32_t last_begun(std::uint32_t first, std::uint32_t end, std::int64_t by, Disturbance beside) const;

      private:
        friend RoutineTimes;
        OfClass(const RoutineTimes& times, std::uint32_t shift, std::size_t first_stay)
            : times_(times), shift_(shift), first_stay_(first_stay) {}
        std::uint32_t kept(std::uint32_t op) const { return op + shift_; }
        const Stay& stay(std::uint32_t op, Disturbance beside) const {
            return times_.stays_[index_of(beside)][first_stay_ + times_.place_[kept(op)]];
        }

        const RoutineTimes& times_;
        std::uint32_t shift_;  // from an op to where it is kept, modulo 2^32
        std::size_t first_stay_;
    };
    OfClass of(RankClassId id) const { return {*this, classes_[id].shift, classes_[id].first_stay}; }

  private:
    std::uint32_t find(const Program& program, RankClassId rank_class, std::uint32_t first, std::uint32_t end);
    void add_times(const Program& program, RankClassId rank_class, const ComputeTimes& works,
                   const Table<CommunicationId, std::int64_t>& transfers, Disturbance beside);
    static std::size_t index_of(Disturbance beside) { return static_cast<std::size_t>(beside); }

    // By op that is kept. Those of a course stand where they stand of each class that follows it.
    std::vector<std::uint32_t> ends_;
    std::vector<std::uint32_t> place_;  // among the ops of routines; only those have one
    std::vector<bool> is_pair_;         // whether it begins a unit of two
    std::uint32_t timed_ = 0;           // ops of the course at hand that have
    struct Class {
        std::uint32_t shift = 0;
        std::size_t first_stay = 0;  // in stays_
    };
    Table<RankClassId, Class> classes_;
    std::array<std::vector<Stay>, 2> stays_;  // by disturbance, as far as the program knows it
};

// posted: all it waits for is done. begin: it really starts (an exchange: its last member arrived). end: over.
struct Span {
    Instant posted, begin, end;
};

struct Timeline {
    Table<OpId, Span> spans;  // of ops of the program's routines nothing that is of use
    // As they happened, run by run; empty where the program has no routines.
    Table<RankClassId, RoutineParts> parts;
    RoutineTimes routine_times;
    Instant end;                             // of the last op
    std::uint64_t events = 0;                // handled by the engine
    std::uint64_t solves = 0;                // of the network
    Table<LinkClassId, double> utilization;  // bytes carried / (bandwidth x step), mean over the links of the class
    Table<LinkClassId, double> peak_utilization;  // the same for the busiest link of the class
    Table<PatternId, Bytes> moved;                // by flows on each pattern; empty where there is no network
    std::vector<UtilizationSample> samples;       // utilization over time, if Recording::spans_and_links

    // Calls visit(OpId, Span) for the ops of a part.
    template <class Visit>
    void visit(RankClassId rank_class, const RoutinePart& part, Visit visit) const {
        if (part.is_one_op()) return visit(OpId{part.first}, Span{part.posted, part.begin, part.over});
        routine_times.of(rank_class)
            .visit(part.first, part.end(), part.begin, part.beside, [&visit](OpId op, Instant from, Instant to) {
                visit(op, Span{from, from, to});
            });
    }
};

// Programs and timelines in which every run of a routine is written out, op by op, for whoever looks at single ops
// (unfold.cpp). The same program without routines runs to the same times; its timeline follows from that of `program`.
Program unfold(const Program& program);
Timeline unfold(const Program& program, Timeline timeline);

}  // namespace weft
