// How busy the links of each class were over time. A fixed number of time buckets; when a run outgrows them,
// neighbours are merged and each covers twice the time, so recording costs the same memory for any run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/base/instant.hpp"
#include "sim/base/quantity.hpp"
#include "sim/base/table.hpp"
#include "sim/network/network_model.hpp"
#include "sim/network/traffic_recorder.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

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

}  // namespace weft
