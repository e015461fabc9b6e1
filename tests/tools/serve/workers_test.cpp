#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "tools/serve/server.hpp"

namespace weft {
namespace {

TEST(workers, do_what_is_handed_out_and_refuse_more_than_may_wait) {
    std::promise<void> gate;
    const std::shared_future<void> open = gate.get_future().share();
    std::atomic<int> done{0};
    const auto work = [&] {
        open.wait();
        ++done;
    };
    {
        Workers workers(1, 2);
        ASSERT_TRUE(workers.hand_out(work));
        while (workers.under_way() == 0) std::this_thread::yield();
        EXPECT_TRUE(workers.hand_out(work));
        EXPECT_TRUE(workers.hand_out(work));
        EXPECT_FALSE(workers.hand_out(work));
        gate.set_value();
        while (done < 3) std::this_thread::yield();
    }
    EXPECT_EQ(done, 3);
}

TEST(workers, drop_what_waits_at_their_end) {
    std::promise<void> gate;
    std::atomic<int> done{0};
    std::jthread opener;
    {
        Workers workers(1, 8);
        workers.hand_out([&, open = gate.get_future().share()] {
            open.wait();
            ++done;
        });
        while (workers.under_way() == 0) std::this_thread::yield();
        for (int i = 0; i < 5; ++i) workers.hand_out([&] { ++done; });
        opener = std::jthread([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(50));  // until the end has begun
            gate.set_value();
        });
    }
    EXPECT_LE(done, 6);
    EXPECT_GE(done, 1);
}

}  // namespace
}  // namespace weft
