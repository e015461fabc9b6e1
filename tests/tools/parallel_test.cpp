#include "tools/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft {
namespace {

TEST(for_each_in_parallel, does_each_once_and_tells_of_each_end) {
    for (const unsigned threads : {0U, 1U, 3U, 100U}) {
        std::vector<std::atomic<int>> times(50);
        std::vector<std::size_t> ends;
        for_each_in_parallel(
            times.size(), threads, [&](std::size_t i) { ++times[i]; },
            [&](std::size_t done, std::size_t count) {
                EXPECT_EQ(count, times.size());
                ends.push_back(done);
            });
        for (const std::atomic<int>& each : times) EXPECT_EQ(each, 1);
        ASSERT_EQ(ends.size(), times.size());
        for (std::size_t i = 0; i < ends.size(); ++i) EXPECT_EQ(ends[i], i + 1);
    }
    for_each_in_parallel(0, 4, [](std::size_t) { FAIL(); }, {});
}

TEST(for_each_in_parallel, stops_at_what_is_thrown) {
    std::atomic<std::size_t> begun{0};
    const auto work = [&](std::size_t i) {
        ++begun;
        if (i >= 7) throw std::runtime_error(std::to_string(i));
    };
    try {
        for_each_in_parallel(100'000, 2, work, {});
        FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
        EXPECT_LE(std::stoi(error.what()), 8);  // of two threads, at most one is beyond the first that throws
    }
    EXPECT_LT(begun, 100'000U);
}

// Whoever hears of the ends may end the work.
TEST(for_each_in_parallel, stops_at_what_is_thrown_where_ends_are_told) {
    for (const unsigned threads : {1U, 3U}) {
        std::atomic<std::size_t> begun{0};
        const auto told = [](std::size_t done, std::size_t) {
            if (done == 5) throw std::runtime_error("enough");
        };
        EXPECT_THROW(for_each_in_parallel(
                         100'000, threads, [&](std::size_t) { ++begun; }, told),
                     std::runtime_error);
        EXPECT_LT(begun, 100'000U);
    }
}

}  // namespace
}  // namespace weft
