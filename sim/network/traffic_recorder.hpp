// Who hears of all traffic of a network, stretch by stretch.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/base/instant.hpp"
#include "sim/base/quantity.hpp"
#include "sim/base/table.hpp"
#include "sim/network/network_model.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

class TrafficRecorder {
  public:
    virtual ~TrafficRecorder() = default;
    // A flow on `pattern` moved `bytes` at a constant rate from `begin` to `end` >= `begin`.
    virtual void add(PatternId pattern, Instant begin, Instant end, Bytes bytes) = 0;
};

// How busy the links of each class were over time. A fixed number of time buckets; when a run outgrows them,
// neighbours are merged and each covers twice the time, so recording costs the same memory for any run.
// From `at` until the next sample of the class: bytes carried / (bandwidth x time), mean over the links of the class.
struct UtilizationSample {
    Instant at;
    LinkClassId link_class{};
    float mean = 0.0F;
};

class UtilizationRecorder final : public TrafficRecorder {
  public:
    static constexpr std::size_t buckets = 2048;

    UtilizationRecorder(const Topology& topology, const Table<PatternId, Pattern>& patterns)
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

    void add(PatternId pattern, Instant begin, Instant end, Bytes bytes) override {
        outlast(end);
        for (const Share& share : shares_[index(pattern)]) {
            spread(busy_[share.link_class], begin, end, bytes.value * share.seconds_per_byte);
        }
    }

    // Class by class in order of time, from 0 to `end`; equal neighbours are one. Classes that carried nothing are
    // left out.
    std::vector<UtilizationSample> samples(Instant end) const {
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

  private:
    // Seconds for which a byte on the pattern keeps a link of the class busy, mean over the links of the class.
    struct Share {
        LinkClassId link_class{};
        double seconds_per_byte = 0.0;
    };
    using Busy = std::array<double, buckets>;  // seconds per bucket, mean over links

    // Merges buckets until they reach past `end`.
    void outlast(Instant end) {
        while (end.femtoseconds / width_ >= static_cast<std::int64_t>(buckets)) {
            for (Busy& busy : busy_) {
                for (std::size_t i = 0; i < buckets / 2; ++i) busy[i] = busy[2 * i] + busy[2 * i + 1];
                std::fill(busy.begin() + buckets / 2, busy.end(), 0.0);
            }
            width_ *= 2;
        }
    }

    // Shares `seconds` out over the buckets in proportion to how much of begin..end lies in each.
    void spread(Busy& busy, Instant begin, Instant end, double seconds) const {
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

    std::vector<std::vector<Share>> shares_;  // by pattern
    Table<LinkClassId, Busy> busy_;
    std::int64_t width_ = 1'000'000;  // femtoseconds per bucket
};

// What flows move in equal parts of a run whose end is known.
class TrafficSlices final : public TrafficRecorder {
  public:
    // `slices` >= 1. Nothing that is added reaches past `end`.
    TrafficSlices(std::size_t patterns, Instant end, std::uint32_t slices)
        : end_(end), moved_(slices, Table<PatternId, Bytes>(patterns)) {
        WEFT_CHECK(slices > 0, "a run is cut into one slice at least");
    }

    void add(PatternId pattern, Instant begin, Instant end, Bytes bytes) override {
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

    // Where a slice begins; of the number of slices: the end.
    // end x slice / slices, without what would overflow.
    Instant begin_of(std::uint32_t slice) const {
        const auto slices = static_cast<std::int64_t>(moved_.size());
        const std::int64_t whole = end_.femtoseconds / slices, rest = end_.femtoseconds % slices;
        return {whole * slice + rest * slice / slices};
    }
    // Bytes on each pattern, slice by slice.
    std::vector<Table<PatternId, Bytes>> take() && { return std::move(moved_); }

  private:
    // At an instant before the end.
    std::uint32_t slice_at(Instant at) const {
        const auto slices = static_cast<std::int64_t>(moved_.size());
        const std::int64_t shortest = std::max<std::int64_t>(end_.femtoseconds / slices, 1);
        auto slice = static_cast<std::uint32_t>(std::min(slices - 1, at.femtoseconds / shortest));
        while (begin_of(slice) > at) --slice;
        while (slice + 1 < slices && begin_of(slice + 1) <= at) ++slice;  // of slices without a tick
        return slice;
    }

    Instant end_;
    std::vector<Table<PatternId, Bytes>> moved_;
};

}  // namespace weft
