// The lanes of a rank: one for computation, one per set of groups it communicates in, as separate streams have it, and
// the host's.
#pragma once

#include <string>
#include <vector>

#include "sim/base/table.hpp"
#include "sim/collective/algorithm.hpp"
#include "workloads/layout/layout.hpp"

namespace weft::lanes {

constexpr LaneId lane(std::size_t number) { return static_cast<LaneId>(number); }

inline constexpr LaneId compute = lane(0);
// What stages hand over. A blocking hand-over has one lane in each direction; beside computation every port has its
// own, so that what travels in one direction never waits for the other.
inline constexpr LaneId pipeline_send = lane(20);  // behind those of groups
inline constexpr LaneId pipeline_receive = lane(index(pipeline_send) + 1);
inline constexpr std::uint32_t most_ports = 4;
constexpr LaneId send_of_port(std::uint32_t port) {
    return lane(index(pipeline_receive) + 1 + 2 * (port % most_ports));
}
constexpr LaneId receive_of_port(std::uint32_t port) { return lane(index(send_of_port(port)) + 1); }
// Where the rank's process launches what the others run.
inline constexpr LaneId host = lane(index(receive_of_port(most_ports - 1)) + 1);
// Copies to the host's memory and back. Groups along further axes come behind them, so that a scheme renumbers no lane.
inline constexpr LaneId store = lane(index(host) + 1), load = lane(index(host) + 2);

// Of calls in these groups; of a boundary, pipeline_send. LogicError for groups that no lane is named after.
LaneId of(RankGroups groups);
// The groups of such a lane; those of one rank on the others.
RankGroups groups(LaneId lane);
const std::vector<std::string>& names();

// Whether ranks that share layers meet on it, neither data ranks nor stages.
bool is_inside_layers(LaneId lane);
inline bool is_pipeline(LaneId lane) { return lane >= pipeline_send && lane < host; }
inline bool is_send(LaneId lane) { return is_pipeline(lane) && (index(lane) - index(pipeline_send)) % 2 == 0; }

// As reports name them: all pipeline lanes are the dimension "pipeline", and what is point to point on them is a "send"
// or a "recv".
std::string dimension_name(LaneId lane);
inline std::string dimension_name(RankGroups groups) { return dimension_name(of(groups)); }
std::string operation_name(Collective op, LaneId lane);

}  // namespace weft::lanes
