#include "sim/collective/algorithm.hpp"

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

namespace weft {
namespace {

using Message = std::tuple<std::uint32_t, std::uint32_t, double>;

std::vector<Message> messages_of(const Phase& phase, std::uint32_t n) {
    std::vector<Message> found;
    for_each_message(phase, n,
                     [&](std::uint32_t from, std::uint32_t to, double w) { found.emplace_back(from, to, w); });
    return found;
}

// By member, which is the order that latencies follow one another in.
TEST(messages, go_round_a_ring_by_any_distance) {
    for (std::uint32_t n = 2; n < 20; ++n) {
        for (std::uint32_t distance = 1; distance < 25; ++distance) {
            const Phase phase{.peer = Peer::shift, .distance = distance};
            std::vector<Message> expected;
            for (std::uint32_t i = 0; i < n; ++i) expected.emplace_back(i, peer_of(phase, i, n), 1.0);
            EXPECT_EQ(messages_of(phase, n), expected);
        }
    }
}

TEST(messages, are_as_listed) {
    const Phase phase{.peer = Peer::listed, .edges = {{3, 0, 0.5}, {1, 2, 0.25}}};
    EXPECT_EQ(messages_of(phase, 7), (std::vector<Message>{{3, 0, 0.5}, {1, 2, 0.25}}));
}

TEST(messages, go_to_all_others) {
    const std::vector<Message> found = messages_of({.peer = Peer::all}, 3);
    EXPECT_EQ(found, (std::vector<Message>{{0, 1, 1}, {0, 2, 1}, {1, 0, 1}, {1, 2, 1}, {2, 0, 1}, {2, 1, 1}}));
}

}  // namespace
}  // namespace weft
