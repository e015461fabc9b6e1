// Who hears of all traffic of a network, stretch by stretch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

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

    UtilizationRecorder(const Topology& topology, const Table<PatternId, Pattern>& patterns);

    void add(PatternId pattern, Instant begin, Instant end, Bytes bytes) override;

    // Class by class in order of time, from 0 to `end`; equal neighbours are one. Classes that carried nothing are
    // left out.
    std::vector<UtilizationSample> samples(Instant end) const;

  private:
    // Seconds for which a byte on the pattern keeps a link of the class busy, mean over the links of the class.
    struct Share {
        LinkClassId link_class{};
        double seconds_per_byte = 0.0;
    };
    using Busy = std::array<double, buckets>;  // seconds per bucket, mean over links

    void outlast(Instant end);
    void spread(Busy& busy, Instant begin, Instant end, double seconds) const;

    std::vector<std::vector<Share>> shares_;  // by pattern
    Table<LinkClassId, Busy> busy_;
    std::int64_t width_ = 1'000'000;  // femtoseconds per bucket
};

// What flows move in equal parts of a run whose end is known.
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
