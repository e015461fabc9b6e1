// When each operation of each rank class happened. The raw result of a run; reports are computed from it.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/instant.hpp"
#include "sim/base/table.hpp"
#include "sim/network/utilization.hpp"

namespace weft {

// posted: all it waits for is done. begin: it really starts (an exchange: its last member arrived). end: over.
struct Span {
    Instant posted, begin, end;
};

struct Timeline {
    Table<OpId, Span> spans;
    Instant end;                             // of the last op
    std::uint64_t events = 0;                // handled by the engine
    std::uint64_t solves = 0;                // of the network
    Table<LinkClassId, double> utilization;  // bytes carried / (bandwidth x step), mean over the links of the class
    Table<LinkClassId, double> peak_utilization;  // the same for the busiest link of the class
    std::vector<UtilizationSample> samples;       // utilization over time, if Recording::spans_and_links
};

}  // namespace weft
