// The lanes of a rank: one for computation, one per kind of group it communicates in, as separate streams have it, and
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
// Kinds of group of further axes come last, so that a scheme renumbers no other lane.
constexpr std::size_t lanes_between = 12;  // from the pipeline's second to those of copies
constexpr LaneId of(GroupKind kind) {
    return lane(1 + static_cast<std::size_t>(kind) + (kind < GroupKind::further ? 0 : lanes_between));
}
// What stages hand over. A blocking hand-over has one lane each way; beside computation every port has its own, so that
// what travels one way never waits for what travels the other.
inline constexpr LaneId pipeline_send = of(GroupKind::boundary);
inline constexpr LaneId pipeline_receive = lane(index(pipeline_send) + 1);
inline constexpr std::uint32_t most_ports = 4;
constexpr LaneId send_of_port(std::uint32_t port) {
    return lane(index(pipeline_receive) + 1 + 2 * (port % most_ports));
}
constexpr LaneId receive_of_port(std::uint32_t port) { return lane(index(send_of_port(port)) + 1); }
// Where the rank's process launches what the others run.
inline constexpr LaneId host = lane(index(receive_of_port(most_ports - 1)) + 1);
// Copies to the host's memory and back.
inline constexpr LaneId store = lane(index(host) + 1), load = lane(index(host) + 2);
static_assert(index(of(GroupKind::further)) == index(load) + 1);

inline std::vector<std::string> all_names() {
    std::vector<std::string> names{"compute",
                                   "tensor",
                                   "context",
                                   "data",
                                   "data inner",
                                   "data outer",
                                   "expert",
                                   "expert inner",
                                   "expert outer",
                                   "experts whole",
                                   "expert tensor",
                                   "expert data",
                                   "expert data inner",
                                   "expert data outer",
                                   "tensor and context",
                                   "stage",
                                   "model",
                                   "stages",
                                   "embedding",
                                   "mirror",
                                   "pipeline send",
                                   "pipeline receive"};
    for (std::uint32_t port = 0; port < most_ports; ++port) {
        names.push_back("pipeline send " + std::to_string(port));
        names.push_back("pipeline receive " + std::to_string(port));
    }
    names.insert(names.end(), {"host", "to host", "from host"});
    names.insert(names.end(), further_axes().begin(), further_axes().end());
    return names;
}

inline const std::vector<std::string>& names() {
    static const std::vector<std::string> names = all_names();
    return names;
}

inline bool is_pipeline(LaneId lane) { return lane >= pipeline_send && lane < host; }
inline bool is_send(LaneId lane) { return is_pipeline(lane) && (index(lane) - index(pipeline_send)) % 2 == 0; }

// As reports name them: all pipeline lanes are the dimension "pipeline", and what is point to point on them is a "send"
// or a "recv".
inline std::string dimension_name(LaneId lane) {
    return is_pipeline(lane) || lane == of(GroupKind::pipeline) ? "pipeline" : names()[index(lane)];
}
inline std::string dimension_name(GroupKind kind) { return dimension_name(of(kind)); }
inline std::string operation_name(Collective op, LaneId lane) {
    if (op != Collective::point_to_point) return std::string(name(op));
    return is_send(lane) ? "send" : "recv";
}

}  // namespace weft::lanes
