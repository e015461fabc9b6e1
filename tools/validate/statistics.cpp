#include "tools/validate/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace weft {
namespace {

double mean(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

double quantile(const std::vector<double>& sorted, double share) {
    const double place = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

ErrorStatistics error_statistics(const std::vector<double>& errors) {
    if (errors.empty()) return {};
    std::vector<double> sizes;
    for (const double error : errors) sizes.push_back(std::abs(error));
    std::ranges::sort(sizes);
    return {.rows = errors.size(),
            .mean = mean(sizes),
            .median = quantile(sizes, 0.5),
            .percentile_90 = quantile(sizes, 0.9),
            .largest = sizes.back(),
            .bias = mean(errors)};
}

}  // namespace weft
