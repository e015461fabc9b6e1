// The lanes of a rank: one for computation and one per dimension of communication, as separate streams have it.
#pragma once

#include <string>
#include <vector>

#include "sim/base/table.hpp"

namespace weft::lanes {

inline constexpr LaneId compute{0};
inline constexpr LaneId tensor{1};
inline constexpr LaneId data{2};
inline constexpr LaneId model{3};  // all ranks of one data index: overflow flags and norms
inline constexpr LaneId pipeline_send{4};
inline constexpr LaneId pipeline_receive{5};

inline std::vector<std::string> names() {
    return {"compute", "tensor", "data", "model", "pipeline send", "pipeline receive"};
}

}  // namespace weft::lanes
