// Where the time of a run went, class by class: computing, communicating in the open, or idle.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/base/table.hpp"
#include "sim/engine/timeline.hpp"
#include "sim/program/program.hpp"

namespace weft {

// The exchanges of one lane. An exchange issued on the compute lane itself (a blocking call) belongs to the dimension
// of its communication.
struct LaneTime {
    Seconds transfer{};  // sum of begin .. end, hidden or not
    Seconds exposed{};   // time in transfer while nothing computes, each moment given to one lane
    Seconds waiting{};   // sum of posted .. begin: for the last member to arrive
    double calls = 0.0;  // a mean over classes may be fractional
};

// The same for the calls of one kind.
struct CallTime {
    LaneId lane{};
    Collective op{};
    std::uint32_t group_size = 1;
    Bytes message;             // full, of one call
    std::uint32_t method = 0;  // of Program::methods
    Bytes messages;            // of every call, summed
    LaneTime time;
};

// busy + sum of exposed + idle is the length of the run.
struct Breakdown {
    Seconds busy{};  // ops of kind compute on the compute lane; on another (the host's) where nothing else goes on
    Seconds idle{};  // neither computing nor in transfer: bubbles and waiting
    Table<LaneId, LaneTime> lanes;
    std::vector<CallTime> calls;  // the lanes' times by kind of call; sorted as CallKinds
    Seconds interference{};       // of busy, by how much communication made it longer (Program::interference)
    Seconds beside{};             // of busy, on other lanes than the compute lane, which waits for them

    Seconds exposed() const;
};

// When several lanes are in transfer at once, the moment is exposed on the one that comes first in `priority`; lanes
// that it does not name come after, in lane order.
Table<RankClassId, Breakdown> break_down(const Program& program, const Timeline& timeline, LaneId compute,
                                         std::span<const LaneId> priority);

// Over all ranks: every class counts with its weight.
Breakdown mean(const Program& program, const Table<RankClassId, Breakdown>& classes);

}  // namespace weft
