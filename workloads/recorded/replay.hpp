// Runs a recorded program on a network: nodes begin when what they wait for is over, and by nothing else. It has an
// event loop of its own: sim/engine runs the lanes of rank classes, each operation after the one before it on its lane,
// and both ends of an exchange end together. Here computation takes its unit when it is ready, first come first served;
// a message leaves when its sender comes to it, and ends for each of the two by itself.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/device/device.hpp"
#include "sim/base/instant.hpp"
#include "sim/cost/library.hpp"
#include "sim/engine/engine.hpp"
#include "sim/network/network_model.hpp"
#include "sim/program/program.hpp"
#include "sim/topology/topology.hpp"
#include "topologies/vertex_names.hpp"
#include "workloads/recorded/checks.hpp"
#include "workloads/recorded/program.hpp"
#include "workloads/report/report.hpp"

namespace weft {

// What the meetings of a recorded program cost on a machine: how its library carries each, as latencies and bytes on
// links. Equal calls are worked out once. And what its computation costs on a device.

// A stretch of a call: latency first, then bytes on a pattern.
struct CallStretch {
    std::int64_t ticks = 0;
    PatternId pattern{};
    Bytes bytes{};
};

struct RecordedCall {
    Collective op{};
    std::uint32_t members = 1;
    Bytes message{};  // full buffer (nccl-tests convention)
    Method method{};
    std::uint32_t first = 0, stretches = 0;  // of RecordedCosts::stretches
    // Of a message: from when its sender is through with it until it arrives. Its latency but for the launch, which the
    // sender does not wait for.
    std::int64_t flight = 0;
};

struct RecordedCosts {
    std::vector<RecordedCall> calls{};
    std::vector<std::uint32_t> call_of{};  // by meeting
    std::vector<CallStretch> stretches{};
    Table<PatternId, Pattern> patterns{};
};

// The full buffer of a call, of what each member puts in.
Bytes full_message(Collective op, Bytes put_in, std::uint32_t members);

// Rank r of the program is rank r of the topology. `host`: what a host that waits for its calls adds to each
// collective. Throws RangeError where the library cannot carry a call.
RecordedCosts recorded_costs(const RecordedProgram& program, const Meetings& meetings, const Topology& topology,
                             const Library& library, Seconds host = {});

// How long computation takes: so many times as long as recorded.
void scale_computation(RecordedProgram& program, double factor);

// Roofline: the longer of FLOPs at the plateau of products in 16 bits and bytes at what element-wise kernels reach,
// after a launch. Nodes of the host, and those that tell neither, keep their recorded time, which a note says.
void compute_on(RecordedProgram& program, const Device& device);

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

// What a replayed program comes to, as plain values: the step, where its time went, its calls, and its critical path.

// Calls of one operation in groups of one size. Counts, bytes and times are means over all ranks.
struct ReplayedCalls {
    std::string op;
    std::uint32_t group_size = 1;
    double calls = 0.0;
    Bytes bytes{};                         // put in by a rank; of messages, sent
    Seconds time{};                        // from the last party's coming to the rank's end
    std::vector<CallReport> by_message{};  // ascending
};

// Nodes of the critical path that do the same.
struct PathShare {
    std::string what;  // operation, or name of what computes
    double nodes = 0.0;
    Seconds time{};
};

// What the files say, as means over their ranks.
struct RecordedTimes {
    std::optional<Seconds> step{};  // of the longest rank; none: the files have no times of begin
    Seconds computation{}, communication{};
};

struct ReplaySummary {
    std::size_t ranks = 0, nodes = 0;
    Seconds step{};
    ActivityTimes mean{};  // over ranks
    std::vector<ActivityTimes> by_rank{};
    std::vector<Seconds> rank_ends{};
    RecordedTimes recorded{};
    std::vector<ReplayedCalls> calls{};  // by operation and group size
    std::vector<PathShare> path{};       // longest first
    std::vector<LinkReport> links{};     // of classes that carried anything, busiest first
    std::vector<HotLink> hottest{};
    std::vector<std::string> notes{};
    std::uint64_t events = 0, solves = 0;
};

ReplaySummary summarize(const RecordedProgram& program, const Meetings& meetings, const RecordedCosts& costs,
                        const Topology& topology, const RecordedRun& run);

}  // namespace weft
