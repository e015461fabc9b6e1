#include "tools/sweep/crew.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <numeric>

namespace weft {
namespace {

// Members take rows, finish some, fall silent, speak again: every row is done exactly once.
TEST(hand_out, every_row_is_done_once_whoever_is_lost) {
    EXPECT_TRUE(rc::check([] {
        const auto count = *rc::gen::inRange<std::size_t>(1, 300);
        const auto members = *rc::gen::inRange<std::size_t>(1, 6);
        std::vector<std::size_t> rows(count);
        std::iota(rows.begin(), rows.end(), 10);
        HandOut hand_out(rows, members, *rc::gen::inRange<std::size_t>(1, 4));
        std::vector<std::vector<std::size_t>> taken(members);
        std::map<std::size_t, int> done;
        // Member 0 alone is never lost, and ends it.
        for (int turn = 0; !hand_out.is_done(); ++turn) {
            RC_ASSERT(turn < 10'000);
            const std::size_t member = turn > 100 ? 0 : *rc::gen::inRange<std::size_t>(0, members);
            for (const std::size_t row : hand_out.next(member)) taken[member].push_back(row);
            if (member != 0 && *rc::gen::inRange(0, 4) == 0) {
                hand_out.give_up(member);
                RC_ASSERT(hand_out.is_idle(member));
            }
            if (turn > 100) {
                for (std::size_t lost = 1; lost < members; ++lost) hand_out.give_up(lost);
            }
            // What a lost member has finished may still arrive.
            while (!taken[member].empty() && (member == 0 || *rc::gen::arbitrary<bool>())) {
                done[taken[member].back()] += hand_out.finish(member, taken[member].back()) ? 1 : 0;
                taken[member].pop_back();
            }
        }
        RC_ASSERT(done.size() == count);
        for (const auto& [row, times] : done) RC_ASSERT(times == 1);
    }));
}

TEST(hand_out, hands_out_no_more_once_stopped) {
    HandOut hand_out({1, 2, 3, 4}, 2, 1);
    const std::vector<std::size_t> first = hand_out.next(0);
    ASSERT_EQ(first.size(), 1U);
    hand_out.stop();
    EXPECT_TRUE(hand_out.next(1).empty());
    EXPECT_FALSE(hand_out.is_idle());
    hand_out.finish(0, first.front());
    EXPECT_TRUE(hand_out.is_idle());
    EXPECT_FALSE(hand_out.is_done());
}

}  // namespace
}  // namespace weft
