// The lanes of a rank: one for computation and one per dimension of communication, as separate streams have it.
#pragma once

#include <string>
#include <vector>

#include "sim/base/table.hpp"
#include "sim/collective/algorithm.hpp"

namespace weft::lanes {

inline constexpr LaneId compute{0};
inline constexpr LaneId tensor{1};
inline constexpr LaneId data{2};
inline constexpr LaneId model{3};      // all ranks of one data index: overflow flags and norms
inline constexpr LaneId embedding{4};  // the first and the last stage, which share a tied embedding
inline constexpr LaneId pipeline_send{5};
inline constexpr LaneId pipeline_receive{6};

inline std::vector<std::string> names() {
    return {"compute", "tensor", "data", "model", "embedding", "pipeline send", "pipeline receive"};
}

// As reports name them: both pipeline lanes are the dimension "pipeline", and what is point to point on them is a
// "send" or a "recv".
inline std::string dimension_name(LaneId lane) {
    return lane == pipeline_send || lane == pipeline_receive ? "pipeline" : names()[index(lane)];
}
inline std::string operation_name(Collective op, LaneId lane) {
    if (op != Collective::point_to_point) return std::string(name(op));
    return lane == pipeline_send ? "send" : "recv";
}

}  // namespace weft::lanes
