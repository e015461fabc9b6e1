#include "tools/output/report_text.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

Report of_memory(double least, double most, double fits) {
    Report report;
    for (const StepMetric& each : known_metrics()) report.metrics.push_back({.key = each.key});
    for (Metric& metric : report.metrics) {
        if (metric.key == "memory.least_bytes") metric.value = least;
        if (metric.key == "memory.most_bytes") metric.value = most;
        if (metric.key == "memory.capacity_bytes") metric.value = 64.0 * (1 << 30);
        if (metric.key == "memory.fits") metric.value = fits;
    }
    return report;
}

TEST(memory_verdict, says_how_near_the_edge_is) {
    const double GiB = 1 << 30;
    EXPECT_EQ(memory_verdict(of_memory(50 * GiB, 64 * GiB, 1)), "fits");
    EXPECT_EQ(memory_verdict(of_memory(63 * GiB, 70 * GiB, 1)), "may not fit: needs 63.0 GiB to 70.0 GiB");
    EXPECT_EQ(memory_verdict(of_memory(65 * GiB, 70 * GiB, 0)), "DOES NOT FIT");
}

}  // namespace
}  // namespace weft
