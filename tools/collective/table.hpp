// The rows that `weft collective` prints, as values, and beside measurements.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/network/link_traffic.hpp"
#include "tools/collective/request.hpp"
#include "topologies/measurements/measurement.hpp"
#include "topologies/vertex_names.hpp"

namespace weft {

struct ClassUtilization {
    std::string link_class;
    double utilization = 0.0;  // of the busiest link of the class
};

// A stretch of the algorithm on the wire.
struct PhaseFacts {
    std::string pattern;                        // "shift by 1, 126 rounds"
    Seconds launch, path, latency, bytes_time;  // latency: launch and what of the path the bytes do not hide
    Bytes bytes;                                // that one sender moves to one peer
    std::string bottleneck;  // link class; "cap" where the algorithm's own pace limits; "" for no traffic
};

enum class Standing : std::uint8_t { chosen, possible, out_of_bounds };  // the last: not made for messages of this size

struct CandidateFacts {
    std::string_view algorithm, protocol;
    Seconds time;  // as the row's, if this one were taken
    Standing standing{};
};

struct CollectiveRow {
    Bytes size;     // as the convention counts it
    Bytes message;  // the full buffer
    Seconds time;
    BytesPerSecond algorithm_bandwidth{}, bus_bandwidth{};
    std::string_view algorithm, protocol;
    bool is_tuned = false;  // whether the library's tuner chose them
    std::uint32_t channels = 0;
    bool shares_ports = false;  // groups go through the same NICs
    std::vector<ClassUtilization> links{};
    std::vector<HotLink> hottest{};            // as many as the request asks for
    std::optional<TimeQuantiles> sampled{};    // of the time, if samples are asked for
    std::vector<PhaseFacts> phases{};          // if explained
    std::vector<CandidateFacts> candidates{};  // if explained: in the order of the library's table
};

// Hears what each link carries in the call of a row. Not of messages sent one by one.
using TrafficListener = std::function<void(const Topology& topology, const CollectiveRow& row, const LinkTraffic&)>;

// Throws OptionError for what cannot run.
std::vector<CollectiveRow> predict(const CollectiveRequest& request, const TrafficListener& listener = {});

// Predictions beside measurements.

struct ComparedRow {
    Bytes message;  // full buffer
    Seconds measured, predicted;
    std::string_view algorithm, protocol;
    int line = 0;  // of the file

    double error() const { return predicted / measured - 1.0; }
};

struct ErrorSummary {
    std::size_t rows = 0;
    double median = 0.0, percentile_90 = 0.0, largest = 0.0;  // of |error|; percentiles by nearest rank
    double bias = 0.0;                                        // median of error
};

ErrorSummary summarize(std::vector<double> errors);

struct Comparison {
    std::vector<ComparedRow> rows;
    ErrorSummary summary;
};

// The measurements of the request's operation, ranks and nodes (where the table tells) and library (where it tells of
// several). Throws ConfigError if there are none, or if they are of several variants.
std::vector<CollectiveMeasurement> matching(const MeasurementTable& table, const CollectiveRequest& request);

// `rows` are predictions of at least the sizes of `measurements`.
Comparison compare(std::span<const CollectiveMeasurement> measurements, std::span<const CollectiveRow> rows);

}  // namespace weft
