// Statistics of relative errors.
#pragma once

#include <cstddef>
#include <vector>

namespace weft {

// Of absolute relative errors, except for the bias. Quantiles: linear between the nearest ranks (R's type 7, numpy's
// default).
struct ErrorStatistics {
    std::size_t rows = 0;  // the others are 0 where there are none
    double mean = 0, median = 0, percentile_90 = 0, largest = 0;
    double bias = 0;  // mean of the signed errors
};

// Of at least one value, ascending; `share` from 0 to 1.
double quantile(const std::vector<double>& sorted, double share);

ErrorStatistics error_statistics(const std::vector<double>& errors);

}  // namespace weft
