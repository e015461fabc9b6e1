// What flows move in equal parts of a run whose end is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/network/traffic_recorder.hpp"

namespace weft {

class TrafficSlices final : public TrafficRecorder {
  public:
    // `slices` >= 1. Nothing that is added reaches past `end`.
    TrafficSlices(std::size_t patterns, Instant end, std::uint32_t slices);

    void add(PatternId pattern, Instant begin, Instant end, Bytes bytes) override;

    // Where a slice begins; of the number of slices: the end.
    Instant begin_of(std::uint32_t slice) const;
    // Bytes on each pattern, slice by slice.
    std::vector<Table<PatternId, Bytes>> take() && { return std::move(moved_); }

  private:
    std::uint32_t slice_at(Instant at) const;  // before the end

    Instant end_;
    std::vector<Table<PatternId, Bytes>> moved_;
};

}  // namespace weft
