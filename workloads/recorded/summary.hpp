// What a replayed program comes to, as plain values: the step, where its time went, its calls, and its critical path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "topologies/vertex_names.hpp"
#include "workloads/recorded/replay.hpp"
#include "workloads/report/report.hpp"

namespace weft {

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
