#include "sim/cost/phase_traffic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace weft {
namespace {

Phase shift(std::uint32_t distance, std::uint32_t hops) {
    return {.peer = Peer::shift, .distance = distance, .repeat = hops, .hops = hops};
}

// Naive twin: from every member, follow the messages one by one.
Seconds walked(const Phase& phase, const std::vector<MessageLatency>& messages) {
    Seconds worst;
    for (std::size_t first = 0; first < messages.size(); ++first) {
        Seconds sum;
        for (std::uint32_t hop = 0; hop < phase.hops; ++hop) {
            sum += messages[(first + hop * phase.distance) % messages.size()].value;
        }
        worst = std::max(worst, sum);
    }
    return worst;
}

// Whole microseconds up to 2^20 us add up exactly, in any order.
TEST(phase_latency, of_messages_in_a_row_is_the_worst_of_all_beginnings) {
    for (const std::uint32_t n : {2U, 3U, 4U, 6U, 8U, 12U}) {
        for (std::uint32_t distance = 1; distance < n; ++distance) {
            for (std::uint32_t slow = 0; slow < n; ++slow) {
                std::vector<MessageLatency> messages(n);
                for (std::uint32_t i = 0; i < n; ++i) messages[i].value = Seconds{i == slow ? 64.0 : 1.0 + i % 3};
                for (std::uint32_t hops = 1; hops <= 2 * n; ++hops) {
                    const Phase phase = shift(distance, hops);
                    ASSERT_EQ(phase_latency(phase, messages).value, walked(phase, messages).value)
                        << n << " members, distance " << distance << ", " << hops << " hops, slow " << slow;
                }
            }
        }
    }
}

// Six members two apart: 0, 2, 4 and 1, 3, 5. The slow message is one of the second, and last, cycle.
TEST(phase_latency, looks_at_the_last_cycle) {
    const std::vector<MessageLatency> messages{{1_us}, {1_us}, {1_us}, {1_us}, {1_us}, {9_us}};
    EXPECT_EQ(phase_latency(shift(2, 3), messages), 1_us + 1_us + 9_us);
}

}  // namespace
}  // namespace weft
