#include "sim/network/traffic_recorder.hpp"

#include <algorithm>

#include "sim/base/check.hpp"

namespace weft {

UtilizationRecorder::UtilizationRecorder(const Topology& topology, const Table<PatternId, Pattern>& patterns)
    : shares_(patterns.size()), busy_(topology.classes.size(), Busy{}) {
    const Table<LinkClassId, std::uint32_t> links = topology.links_of_class();
    Table<LinkClassId, double> seconds(topology.classes.size());
    for (PatternId id{}; id != patterns.end_id(); id = next(id)) {
        std::fill(seconds.begin(), seconds.end(), 0.0);
        for (const LinkLoad& load : patterns[id].loads) {
            seconds[topology.link_class(load.link)] +=
                load.stands_for * (load.load / topology.link(load.link).bandwidth.value);
        }
        for (LinkClassId c{}; c != topology.classes.end_id(); c = next(c)) {
            if (seconds[c] > 0.0) shares_[index(id)].push_back({c, seconds[c] / links[c]});
        }
    }
}

void UtilizationRecorder::add(PatternId pattern, Instant begin, Instant end, Bytes bytes) {
    outlast(end);
    for (const Share& share : shares_[index(pattern)]) {
        spread(busy_[share.link_class], begin, end, bytes.value * share.seconds_per_byte);
    }
}

// Merges buckets until they reach past `end`.
void UtilizationRecorder::outlast(Instant end) {
    while (end.femtoseconds / width_ >= static_cast<std::int64_t>(buckets)) {
        for (Busy& busy : busy_) {
            for (std::size_t i = 0; i < buckets / 2; ++i) busy[i] = busy[2 * i] + busy[2 * i + 1];
            std::fill(busy.begin() + buckets / 2, busy.end(), 0.0);
        }
        width_ *= 2;
    }
}

// Shares `seconds` out over the buckets in proportion to how much of begin..end lies in each.
void UtilizationRecorder::spread(Busy& busy, Instant begin, Instant end, double seconds) const {
    const std::int64_t length = end.femtoseconds - begin.femtoseconds;
    std::int64_t from = begin.femtoseconds;
    auto bucket = static_cast<std::size_t>(from / width_);
    for (; from / width_ != end.femtoseconds / width_; ++bucket) {
        const std::int64_t to = (from / width_ + 1) * width_;
        busy[bucket] += seconds * static_cast<double>(to - from) / static_cast<double>(length);
        from = to;
    }
    const std::int64_t rest = end.femtoseconds - from;
    busy[bucket] += length == 0 ? seconds : seconds * static_cast<double>(rest) / static_cast<double>(length);
}

std::vector<UtilizationSample> UtilizationRecorder::samples(Instant end) const {
    std::vector<UtilizationSample> result;
    for (LinkClassId c{}; c != busy_.end_id(); c = next(c)) {
        const Busy& busy = busy_[c];
        if (std::ranges::all_of(busy, [](double seconds) { return seconds == 0.0; })) continue;
        float last = -1.0F;
        for (std::size_t i = 0; i < buckets; ++i) {
            const Instant from{static_cast<std::int64_t>(i) * width_};
            if (from >= end) break;
            const Instant to{std::min(from.femtoseconds + width_, end.femtoseconds)};
            const auto mean = static_cast<float>(busy[i] / (to - from).value);
            if (mean != last) result.push_back({from, c, mean});
            last = mean;
        }
        if (last != 0.0F) result.push_back({end, c, 0.0F});
    }
    return result;
}

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
