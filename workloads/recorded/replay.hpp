// Runs a recorded program on a network: nodes begin when what they wait for is over, and by nothing else. It has an
// event loop of its own: sim/engine runs the lanes of rank classes, each operation after the one before it on its lane,
// and both ends of an exchange end together. Here computation takes its unit when it is ready, first come first served;
// a message leaves when its sender comes to it, and ends for each of the two by itself.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/base/instant.hpp"
#include "sim/engine/engine.hpp"
#include "sim/topology/topology.hpp"
#include "workloads/recorded/checks.hpp"
#include "workloads/recorded/costs.hpp"
#include "workloads/recorded/program.hpp"

namespace weft {

// What a rank does at a moment; where it does several things, the first of them.
enum class RankActivity : std::uint8_t {
    computing,
    communicating,
    on_host,  // its host computes
    waiting,  // for another rank
    idle,
};
inline constexpr std::size_t rank_activities = 5;

// By RankActivity. They sum to the length of the run.
using ActivityTimes = std::array<Seconds, rank_activities>;

// Why a node began when it did: another was over or had begun, or left the unit that both need.
struct NodeCause {
    static constexpr std::uint32_t nobody = (1U << 31U) - 1;
    std::uint32_t node : 31;
    std::uint32_t on_begin : 1;
};

struct RecordedRun {
    // By number of all nodes (Meetings::first_node). Of communication, when the rank came to it.
    std::vector<Instant> begin{}, end{};
    std::vector<NodeCause> cause{};
    std::vector<ActivityTimes> ranks{};
    Instant over;
    std::vector<double> utilization{}, peak_utilization{};  // by link class of the topology
    Table<PatternId, Bytes> moved{};                        // of RecordedCosts::patterns
    std::uint64_t events = 0, solves = 0;
};

// Throws a ConfigError, which names nodes, where ranks wait for one another in a circle; RangeError past the end of the
// clock.
RecordedRun replay(const RecordedProgram& program, const Meetings& meetings, const RecordedCosts& costs,
                   const Topology& topology, NetworkKind network);

// The nodes that the length of the run is made of, in order of time: the first begins with it, the last ends with it.
// Of a collective, the party that came last; of a message that was waited for, its send.
struct RecordedPiece {
    std::uint32_t node = 0;
    Instant begin, end;
};
std::vector<RecordedPiece> critical_path(const RecordedProgram& program, const Meetings& meetings,
                                         const RecordedRun& run);

// Where the time of one rank goes while a recorded program runs: each moment is given to the first thing that the rank
// does then. Exact: what is given sums to the length of the run, to the tick.
class ActivityClock {
  public:
    void begin(RankActivity what, Instant now) {
        pass(now);
        ++under_way_[static_cast<std::size_t>(what)];
    }
    void end(RankActivity what, Instant now) {
        pass(now);
        --under_way_[static_cast<std::size_t>(what)];
    }
    ActivityTimes times(Instant over) {
        pass(over);
        ActivityTimes times;
        for (std::size_t i = 0; i < rank_activities; ++i) times[i] = since_start({ticks_[i]});
        return times;
    }

  private:
    void pass(Instant now) {
        if (now == since_) return;
        std::size_t first = 0;
        while (first + 1 < rank_activities && under_way_[first] == 0) ++first;  // the last: nothing is under way
        ticks_[first] += now.femtoseconds - since_.femtoseconds;
        since_ = now;
    }

    std::array<std::uint32_t, rank_activities> under_way_{};
    std::array<std::int64_t, rank_activities> ticks_{};
    Instant since_;
};

}  // namespace weft
