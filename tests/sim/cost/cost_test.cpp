#include "sim/cost/cost.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <string_view>

#include "sim/base/check.hpp"
#include "tests/sim/collective/members.hpp"
#include "tests/sim/collective/toy_crossbar.hpp"
#include "tests/sim/cost/algorithm_cost.hpp"

namespace weft {
namespace {

using testing_support::first_ranks;
using testing_support::toy_crossbar;

std::vector<PhaseCost> cost_of(Collective op, std::string_view algorithm, std::uint32_t n, const Topology& topology,
                               const ProtocolCost& protocol = {}) {
    const std::vector<Communicator> communicators{{{first_ranks(n)}}};
    const Library library{.name = "toy", .launch = 8_us};
    return cost(*find_algorithm(op, algorithm), {.members = n}, communicators, topology, library, protocol);
}

const ProtocolCost steps_of_1_us{.launch = 2_us, .step_in_node = 1_us, .step_across = 1_us};

constexpr Bytes any_message = 1_MiB;  // without overlap, latency is the same for all

TEST(cost, a_ring_all_reduce_is_one_stretch_of_twice_the_rounds) {
    const Topology topology = toy_crossbar(8, 1, 10_GBps, 0_us);
    const auto costs = cost_of(Collective::all_reduce, "ring", 8, topology, steps_of_1_us);
    ASSERT_EQ(costs.size(), 1u);
    EXPECT_NEAR(costs[0].latency(any_message).value, 10e-6 + 14e-6, 1e-15);
    EXPECT_NEAR(costs[0].bytes_per_message_byte, 2.0 * 7 / 8, 1e-15);
}

TEST(cost, halving_doubling_has_a_stretch_per_distance_and_one_launch) {
    const Topology topology = toy_crossbar(8, 1, 10_GBps, 0_us);
    const auto costs = cost_of(Collective::all_reduce, "halving_doubling", 8, topology, steps_of_1_us);
    ASSERT_EQ(costs.size(), 5u);  // 4 2 1+1 2 4
    Seconds latency;
    double bytes = 0.0;
    for (const PhaseCost& one : costs) {
        latency += one.latency(any_message);
        bytes += one.bytes_per_message_byte;
    }
    EXPECT_NEAR(latency.value, 10e-6 + 6e-6, 1e-15);
    EXPECT_NEAR(bytes, 2.0 * 7 / 8, 1e-15);
    EXPECT_EQ(costs[0].pattern, costs[4].pattern);
    EXPECT_NEAR(costs[2].bytes_per_message_byte, 2.0 / 8, 1e-15);
}

// Eight ranks on two nodes, 14 rounds: a chunk is 1/8 of the message, and 4 of 14 messages in a row cross nodes at
// worst (two in each turn of eight, two in the six of the other turn).
TEST(cost, a_message_between_nodes_is_posted_for_each_channel_that_has_its_part_of_it) {
    const Topology topology = toy_crossbar(8, 4, 10_GBps, 0_us);
    ProtocolCost protocol = steps_of_1_us;
    protocol.post_channel = 5_us;
    protocol.channel_part = 2_KiB;
    protocol.most_channels = 16;
    const auto costs = cost_of(Collective::all_reduce, "ring", 8, topology, protocol);
    ASSERT_EQ(costs.size(), 1u);
    const auto posts = [&](Bytes message) { return costs[0].latency(message).value - (10e-6 + 14e-6); };
    EXPECT_NEAR(posts(16_KiB), 4 * 5e-6, 1e-12) << "2 KiB each, one channel";
    EXPECT_NEAR(posts(64_KiB), 4 * 4 * 5e-6, 1e-12) << "four channels";
    EXPECT_NEAR(posts(256_KiB), 4 * 16 * 5e-6, 1e-12);
    EXPECT_NEAR(posts(1_GiB), 4 * 16 * 5e-6, 1e-12) << "no more than there are";
}

// Eight heads, 16 channels: loops of 16 MiB, and of half as much for messages of fewer than 64 of these. Two loops pass
// before the last stage begins; each is (1 + 1/8) of it on a member's links.
TEST(cost, a_message_in_loops_takes_two_more_of_them_and_their_posts) {
    const Topology topology = toy_crossbar(8, 8, 10_GBps, 0_us);
    ProtocolCost protocol = steps_of_1_us;
    protocol.chunk = 128_KiB;
    protocol.halved_below = {64, 8, 2};
    protocol.most_channels = 16;
    const auto time = [&](Bytes message) {
        const auto costs = cost_of(Collective::all_reduce, "nvls", 8, topology, protocol);
        EXPECT_EQ(costs.size(), 1u);
        return costs[0].time(message).value - (10e-6 + 2e-6);
    };
    const double per_byte = 1.125 / 10e9;
    EXPECT_NEAR(time(1_GiB), (1_GiB + 32_MiB).value * per_byte, 1e-9);
    EXPECT_NEAR(time(512_MiB), (512_MiB + 16_MiB).value * per_byte, 1e-9);
    EXPECT_NEAR(time(1_MiB), (3_MiB).value * per_byte, 1e-9) << "less than a loop";
    protocol.post_in_node = 2_us;
    EXPECT_NEAR(time(1_GiB), (1_GiB + 32_MiB).value * per_byte + 66 * 16e-6, 1e-9) << "for each head and loop";
}

TEST(cost, a_group_of_one_costs_its_launch) {
    const Topology topology = toy_crossbar(2, 1, 10_GBps, 1_us);
    const auto costs = cost_of(Collective::all_reduce, "ring", 1, topology, steps_of_1_us);
    ASSERT_EQ(costs.size(), 1u);
    EXPECT_NEAR(costs[0].latency(any_message).value, 10e-6, 1e-18);
    EXPECT_EQ(costs[0].bytes_per_message_byte, 0.0);
    EXPECT_TRUE(is_unlimited(costs[0].pattern));
}

TEST(cost, of_a_whole_large_machine_takes_well_below_a_second) {
    constexpr std::uint32_t all = 75264, size = 512;
    const Topology topology = toy_crossbar(all, 8, 10_GBps, 1_us);
    std::vector<Communicator> communicators;
    for (std::uint32_t first = 0; first < all; first += size) {
        std::vector<RankId> order;
        for (std::uint32_t r = first; r < first + size; ++r) order.push_back(RankId(r));
        communicators.push_back({{order, order, order, order}});
    }
    const auto start = std::chrono::steady_clock::now();
    const auto costs = cost(*find_algorithm(Collective::all_reduce, "ring"), {.members = size}, communicators, topology,
                            Library{}, ProtocolCost{});
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    EXPECT_EQ(costs[0].pattern.loads.size(), 2 * all);
    EXPECT_LT(wall.count(), 2.0) << "even in a debug build on a busy machine";
}

}  // namespace
}  // namespace weft
