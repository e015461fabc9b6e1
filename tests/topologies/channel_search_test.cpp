// The search against trying every order.
#include "topologies/channel_search.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace weft {
namespace {

using MemberOrder = std::vector<std::uint32_t>;

// Busiest link and total occupancy of one order on its own.
std::pair<std::int64_t, std::int64_t> cost_of(const ChannelProblem& problem, const MemberOrder& order) {
    std::map<LinkId, std::int64_t> occupied;
    const auto add = [&](const HopUses& uses) {
        for (const LinkUse& use : uses) occupied[use.link] += use.occupancy;
    };
    for (std::size_t i = 1; i < order.size(); ++i) add(problem.hop[order[i - 1] * problem.members + order[i]]);
    if (problem.across()) {
        add(problem.enter[order.front()]);
        add(problem.leave[order.back()]);
    } else {
        add(problem.hop[order.back() * problem.members + order.front()]);
    }
    std::int64_t busiest = 0, total = 0;
    for (const auto& [link, occupancy] : occupied) {
        busiest = std::max(busiest, occupancy);
        total += occupancy;
    }
    return {busiest, total};
}

bool allowed(const ChannelProblem& problem, const MemberOrder& order) {
    if (!problem.across()) return order.front() == 0;
    const bool many = std::any_of(problem.port.begin(), problem.port.end(),
                                  [&](LinkId port) { return port != problem.port.front(); });
    return !many || problem.port[order.front()] != problem.port[order.back()];
}

// The best first channel by trying all orders; lexicographic order breaks ties.
MemberOrder naive_best(const ChannelProblem& problem) {
    MemberOrder order(problem.members), best;
    std::iota(order.begin(), order.end(), 0U);
    do {
        if (allowed(problem, order) && (best.empty() || cost_of(problem, order) < cost_of(problem, best))) best = order;
    } while (std::next_permutation(order.begin(), order.end()));
    return best;
}

HopUses random_uses() {
    HopUses uses;
    const auto links = *rc::gen::unique<std::vector<std::uint32_t>>(*rc::gen::inRange<std::size_t>(1, 3),
                                                                    rc::gen::inRange<std::uint32_t>(0, 30));
    for (const std::uint32_t link : links) uses.push_back({LinkId(link), *rc::gen::inRange<std::int64_t>(1, 6)});
    return uses;
}

ChannelProblem random_problem(bool across) {
    ChannelProblem problem;
    problem.members = *rc::gen::inRange<std::uint32_t>(2, 6);
    for (std::uint32_t i = 0; i < problem.members; ++i) {
        for (std::uint32_t j = 0; j < problem.members; ++j) problem.hop.push_back(i == j ? HopUses{} : random_uses());
        if (!across) continue;
        const auto port = *rc::gen::inRange<std::uint32_t>(100, 103);
        problem.enter.push_back({{LinkId(port + 10), 7}});
        problem.leave.push_back({{LinkId(port), 7}});
        problem.port.push_back(LinkId(port));
    }
    return problem;
}

// How long a byte for each of these channels occupies the busiest link, for each channel.
double time_of_each(const ChannelProblem& problem, const std::vector<MemberOrder>& channels) {
    std::map<LinkId, std::int64_t> occupied;
    const auto use = [&](const HopUses& uses) {
        for (const LinkUse& each : uses) occupied[each.link] += each.occupancy;
    };
    for (const MemberOrder& order : channels) {
        for (std::size_t i = 1; i < order.size(); ++i) use(problem.hop[order[i - 1] * problem.members + order[i]]);
        if (problem.across()) {
            use(problem.enter[order.front()]);
            use(problem.leave[order.back()]);
        } else {
            use(problem.hop[order.back() * problem.members + order.front()]);
        }
    }
    std::int64_t busiest = 0;
    for (const auto& [link, sum] : occupied) busiest = std::max(busiest, sum);
    return static_cast<double>(busiest) / static_cast<double>(channels.size());
}

// Or the channels are of a kind that carries more.
void expect_best_first(const ChannelProblem& problem) {
    const std::vector<MemberOrder> channels = find_channels(problem);
    const MemberOrder best = naive_best(problem);
    if (channels.front() != best) RC_ASSERT(time_of_each(problem, channels) < time_of_each(problem, {best}));
}

RC_GTEST_PROP(channel_search, first_ring_is_the_best_of_all_rings, ()) { expect_best_first(random_problem(false)); }

RC_GTEST_PROP(channel_search, first_path_is_the_best_of_all_paths, ()) { expect_best_first(random_problem(true)); }

RC_GTEST_PROP(channel_search, every_channel_passes_every_member_once, ()) {
    const ChannelProblem problem = random_problem(*rc::gen::arbitrary<bool>());
    for (MemberOrder order : find_channels(problem)) {
        std::sort(order.begin(), order.end());
        for (std::uint32_t i = 0; i < problem.members; ++i) RC_ASSERT(order.at(i) == i);
        RC_ASSERT(order.size() == problem.members);
    }
}

// Every two of four members are joined by a cable. Two rings use 8 of the 12 ways once; no third fits beside them, as
// the complete directed graph of four has no three rings without a common way. Six use each way twice: half as many
// again.
TEST(channel_search, four_all_to_all_members_get_the_six_rings_that_use_every_way_alike) {
    ChannelProblem problem{.members = 4, .hop = {}, .enter = {}, .leave = {}, .port = {}};
    for (std::uint32_t way = 0; way < 16; ++way)
        problem.hop.push_back(way / 4 == way % 4 ? HopUses{} : HopUses{{LinkId(way), 1}});
    std::map<std::uint32_t, int> times;
    for (const MemberOrder& ring : find_channels(problem)) {
        for (std::size_t i = 0; i < 4; ++i) ++times[ring[i] * 4 + ring[(i + 1) % 4]];
    }
    ASSERT_EQ(times.size(), 12U);
    for (const auto& [way, count] : times) EXPECT_EQ(count, 2) << way;
}

// Eight have seven rings that use every way once, and eight paths with as many ends.
TEST(channel_search, eight_all_to_all_members_use_every_way_once) {
    ChannelProblem problem{.members = 8, .hop = {}, .enter = {}, .leave = {}, .port = {}};
    for (std::uint32_t way = 0; way < 64; ++way)
        problem.hop.push_back(way / 8 == way % 8 ? HopUses{} : HopUses{{LinkId(way), 100}});
    const std::vector<MemberOrder> rings = find_channels(problem);
    EXPECT_EQ(rings.size(), 7U);
    EXPECT_EQ(time_of_each(problem, rings), 100.0 / 7);
    for (std::uint32_t member = 0; member < 8; ++member) {
        problem.enter.push_back({{LinkId(100 + member), 105}});
        problem.leave.push_back({{LinkId(200 + member), 105}});
        problem.port.push_back(LinkId(200 + member));
    }
    const std::vector<MemberOrder> paths = find_channels(problem);
    EXPECT_EQ(paths.size(), 8U);
    EXPECT_EQ(time_of_each(problem, paths), 105.0 / 8);
}

// Two members, one cable each way of occupancy 1: the second ring would double the load without adding rate.
TEST(channel_search, one_ring_is_enough_where_a_second_shares_its_links) {
    const ChannelProblem problem{
        .members = 2, .hop = {{}, {{LinkId(0), 1}}, {{LinkId(1), 1}}, {}}, .enter = {}, .leave = {}, .port = {}};
    EXPECT_EQ(find_channels(problem).size(), 1U);
}

// Twelve members, each with its own port and equal links: one rotation per port.
TEST(channel_search, large_nodes_rotate_so_that_every_port_is_used_once) {
    ChannelProblem problem{.members = 12, .hop = {}, .enter = {}, .leave = {}, .port = {}};
    for (std::uint32_t i = 0; i < 12; ++i) {
        for (std::uint32_t j = 0; j < 12; ++j) {
            problem.hop.push_back(i == j ? HopUses{} : HopUses{{LinkId(i), 1}, {LinkId(20 + j), 1}});
        }
        problem.leave.push_back({{LinkId(40 + i), 100}});
        problem.enter.push_back({{LinkId(60 + i), 100}});
        problem.port.push_back(LinkId(40 + i));
    }
    const std::vector<MemberOrder> channels = find_channels(problem);
    ASSERT_EQ(channels.size(), 12U);
    std::vector<std::uint32_t> first, last;
    for (const MemberOrder& order : channels) {
        first.push_back(order.front());
        last.push_back(order.back());
    }
    std::sort(first.begin(), first.end());
    std::sort(last.begin(), last.end());
    MemberOrder all(12);
    std::iota(all.begin(), all.end(), 0U);
    EXPECT_EQ(first, all);
    EXPECT_EQ(last, all);
}

TEST(channel_search, a_lone_member_is_its_own_ring) {
    EXPECT_EQ(find_channels({.members = 1, .hop = {{}}, .enter = {}, .leave = {}, .port = {}}),
              (std::vector<MemberOrder>{{0}}));
}

}  // namespace
}  // namespace weft
