#include "tools/output/report_text.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

Report of_memory(double least, double most, double fits) {
    Report report;
    report.metrics = {{.key = "memory.least_bytes", .value = least},
                      {.key = "memory.most_bytes", .value = most},
                      {.key = "memory.capacity_bytes", .value = 64.0 * (1 << 30)},
                      {.key = "memory.fits", .value = fits, .kind = MetricKind::flag}};
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
