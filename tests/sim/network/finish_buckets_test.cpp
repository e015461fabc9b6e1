#include "sim/network/finish_buckets.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <vector>

#include "sim/event/finish_queue.hpp"

namespace weft {
namespace {

TEST(finish_buckets, gives_the_flows_of_an_instant_in_order_of_their_ids) {
    FinishBuckets buckets;
    for (const std::uint32_t id : {3U, 0U, 2U}) buckets.set(FlowId{id}, {5});
    buckets.set(FlowId{1}, {4});
    buckets.set(FlowId{0}, {6});
    buckets.set(FlowId{1}, {5});
    std::vector<FlowId> done;
    EXPECT_EQ(buckets.next(), Instant{5});
    buckets.take_first(done);
    EXPECT_EQ(done, (std::vector{FlowId{1}, FlowId{2}, FlowId{3}}));
    EXPECT_EQ(buckets.next(), Instant{6});
}

// Few instants, so that flows share them, or many.
RC_GTEST_PROP(finish_buckets, agrees_with_a_queue_of_flows, ()) {
    FinishBuckets buckets;
    FinishQueue<FlowId> twin;
    const auto instants = *rc::gen::element(3, 1000);
    for (int i = 0; i < 300; ++i) {
        if (*rc::gen::inRange(0, 5) > 0) {
            const FlowId flow{*rc::gen::inRange<std::uint32_t>(0, 40)};
            const Instant at{64 * *rc::gen::inRange(0, instants)};
            buckets.set(flow, at);
            twin.set(flow, at);
        } else if (twin.next() != Instant::never()) {
            std::vector<FlowId> done, expected;
            for (const Instant now = twin.next(); twin.next() == now;) expected.push_back(twin.pop());
            buckets.take_first(done);
            RC_ASSERT(done == expected);
        }
        RC_ASSERT(buckets.next() == twin.next());
    }
}

}  // namespace
}  // namespace weft
