// Who hears of all traffic of a network, stretch by stretch.
#pragma once

#include "sim/base/instant.hpp"
#include "sim/base/quantity.hpp"
#include "sim/base/table.hpp"

namespace weft {

class TrafficRecorder {
  public:
    virtual ~TrafficRecorder() = default;
    // A flow on `pattern` moved `bytes` at a constant rate from `begin` to `end` >= `begin`.
    virtual void add(PatternId pattern, Instant begin, Instant end, Bytes bytes) = 0;
};

}  // namespace weft
