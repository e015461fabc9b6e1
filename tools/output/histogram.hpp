// How often messages of which size are sent: a histogram in powers of two for every operation.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/quantity.hpp"

namespace weft {

struct MessageCount {
    std::string op;  // "all_gather"
    Bytes message;   // of one call
    double calls = 1;
};

// Calls of one operation with `from` <= message < `to`. `to` = 2 `from`, a power of two; empty messages stand apart
// in [0, 1).
struct HistogramBin {
    std::string op;
    Bytes from, to;
    double calls = 0;
    Bytes bytes;  // of all calls together

    bool operator==(const HistogramBin&) const = default;
};

// Bins that hold calls: operations in the order they first occur, below each its bins by size.
std::vector<HistogramBin> message_histogram(std::span<const MessageCount> messages);

// A block per operation, a line per bin with a bar as long as its calls (the longest of the operation: 40 marks; a bar
// is never shorter than one).
std::string histogram_text(std::span<const HistogramBin> bins);

// Rows {op, from_bytes, to_bytes, calls, bytes}.
std::string histogram_csv(std::span<const HistogramBin> bins);

}  // namespace weft
