// Predictions beside measurements.
#pragma once

#include <span>
#include <vector>

#include "tools/collective/table.hpp"
#include "topologies/measurements/measurement.hpp"

namespace weft {

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
