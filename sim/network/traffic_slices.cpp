#include "sim/network/traffic_slices.hpp"

#include <algorithm>

#include "sim/base/check.hpp"

namespace weft {

TrafficSlices::TrafficSlices(std::size_t patterns, Instant end, std::uint32_t slices)
    : end_(end), moved_(slices, Table<PatternId, Bytes>(patterns)) {
    WEFT_CHECK(slices > 0, "a run is cut into one slice at least");
}

// end x slice / slices, without what would overflow.
Instant TrafficSlices::begin_of(std::uint32_t slice) const {
    const auto slices = static_cast<std::int64_t>(moved_.size());
    const std::int64_t whole = end_.femtoseconds / slices, rest = end_.femtoseconds % slices;
    return {whole * slice + rest * slice / slices};
}

std::uint32_t TrafficSlices::slice_at(Instant at) const {
    const auto slices = static_cast<std::int64_t>(moved_.size());
    const std::int64_t shortest = std::max<std::int64_t>(end_.femtoseconds / slices, 1);
    auto slice = static_cast<std::uint32_t>(std::min(slices - 1, at.femtoseconds / shortest));
    while (begin_of(slice) > at) --slice;
    while (slice + 1 < slices && begin_of(slice + 1) <= at) ++slice;  // of slices without a tick
    return slice;
}

void TrafficSlices::add(PatternId pattern, Instant begin, Instant end, Bytes bytes) {
    WEFT_CHECK(begin <= end && end <= end_, "traffic outside the run");
    std::uint32_t slice = slice_at(begin);
    if (begin == end) {
        moved_[slice][pattern] += bytes;
        return;
    }
    for (Instant from = begin; from < end; ++slice) {
        const Instant to = std::min(begin_of(slice + 1), end);
        moved_[slice][pattern] += bytes * ((to - from) / (end - begin));
        from = to;
    }
}

}  // namespace weft
