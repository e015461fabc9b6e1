#include "sim/engine/delay_queue.hpp"

#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>
#include <algorithm>
#include <utility>
#include <vector>

namespace weft {
namespace {

TEST(delay_queue, gives_equal_times_in_order_of_entering_whatever_their_delays) {
    DelayQueue<char> queue;
    queue.push({0}, 10, 'a');
    queue.push({4}, 6, 'b');
    queue.push({4}, 1, 'c');
    queue.push({10}, 0, 'd');
    EXPECT_EQ(queue.next(), Instant{5});
    std::vector<char> order;
    while (queue.next() != Instant::never()) order.push_back(queue.pop());
    EXPECT_EQ(order, (std::vector{'c', 'a', 'b', 'd'}));
}

TEST(delay_queue, refuses_to_leave_the_clock) {
    DelayQueue<char> queue;
    EXPECT_THROW(queue.push({2}, Instant::never().femtoseconds - 1, 'a'), RangeError);
}

// More distinct delays than there are lines; a list that is sorted anew every time is the twin.
RC_GTEST_PROP(delay_queue, agrees_with_a_sorted_list, ()) {
    DelayQueue<int> queue;
    std::vector<std::pair<std::int64_t, int>> twin;
    const auto delays = *rc::gen::inRange(1, 40);
    std::int64_t now = 0;
    for (int i = 0; i < 200; ++i) {
        if (twin.empty() || *rc::gen::arbitrary<bool>()) {
            const std::int64_t delay = 7 * *rc::gen::inRange(0, delays);
            queue.push({now}, delay, i);
            twin.emplace_back(now + delay, i);
            std::sort(twin.begin(), twin.end());
        } else {
            RC_ASSERT(queue.next() == Instant{twin.front().first});
            now = twin.front().first;
            RC_ASSERT(queue.pop() == twin.front().second);
            twin.erase(twin.begin());
        }
    }
}

}  // namespace
}  // namespace weft
