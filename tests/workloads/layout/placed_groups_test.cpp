// Groups against a slow oracle that compares coordinates of every pair of ranks.
#include "workloads/layout/layout.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace weft {
namespace {

Layout layout_of(std::uint32_t tensor, std::uint32_t context, std::uint32_t pipeline, std::uint32_t data) {
    Layout layout;
    layout.tensor = tensor;
    layout.context = context;
    layout.pipeline = pipeline;
    layout.data = data;
    return layout;
}

// Where a rank stands: coordinates by axis, and its number among the ranks of its stage in grid order.
struct RankSeat {
    std::map<std::string, std::uint32_t> at;
    std::uint32_t in_stage = 0;
};

std::vector<RankSeat> seats(const Layout& layout) {
    std::map<std::string, std::uint32_t> size{
        {"tensor", layout.tensor}, {"context", layout.context}, {"data", layout.data}, {"pipeline", layout.pipeline}};
    std::vector<RankSeat> seats(layout.ranks());
    std::vector<std::uint32_t> seen(layout.pipeline, 0);
    for (std::uint32_t rank = 0; rank < layout.ranks(); ++rank) {
        std::uint32_t rest = rank;
        for (const std::string& axis : layout.order) {
            seats[rank].at[axis] = rest % size[axis];
            rest /= size[axis];
        }
        seats[rank].in_stage = seen[seats[rank].at["pipeline"]]++;
    }
    return seats;
}

using Together = std::function<bool(const RankSeat&, const RankSeat&)>;

// Groups, and whether two ranks belong to one of them.
std::vector<std::pair<RankGroups, Together>> cases(const Layout& layout) {
    const auto agree = [](std::vector<std::string> axes) -> Together {
        return [axes](const RankSeat& a, const RankSeat& b) {
            return std::ranges::all_of(axes, [&](const std::string& axis) { return a.at.at(axis) == b.at.at(axis); });
        };
    };
    // Of one stage, and equal in what `place` makes of their numbers.
    const auto equal = [&](std::function<std::uint32_t(std::uint32_t)> place) -> Together {
        return [=, same = agree({"pipeline"})](const RankSeat& a, const RankSeat& b) {
            return same(a, b) && place(a.in_stage) == place(b.in_stage);
        };
    };
    const auto both = [](Together one, Together other) -> Together {
        return [=](const RankSeat& a, const RankSeat& b) { return one(a, b) && other(a, b); };
    };
    const std::uint32_t etp = layout.expert_tensor, experts = etp * layout.expert, near = etp * layout.expert_inner;
    const std::uint32_t shard = layout.shard_ranks, inner = layout.ranks_of_stage() / layout.data * shard;
    const Together expert = both(equal([=](std::uint32_t i) { return i % etp; }),
                                 equal([=](std::uint32_t i) { return i / experts; })),
                   expert_data = equal([=](std::uint32_t i) { return i % experts; });
    std::vector<std::pair<RankGroups, Together>> all{
        {{"tensor"}, agree({"context", "data", "pipeline"})},
        {{"context"}, agree({"tensor", "data", "pipeline"})},
        {copy_axes(), agree({"tensor", "pipeline"})},
        {RankGroups::inner(copy_axes()), both(agree({"tensor", "pipeline"}),
                                              [=](const RankSeat& a, const RankSeat& b) {
                                                  return a.at.at("data") / shard == b.at.at("data") / shard;
                                              })},
        {RankGroups::outer({"data"}), both(agree({"tensor", "context", "pipeline"}),
                                           [=](const RankSeat& a, const RankSeat& b) {
                                               return a.at.at("data") % shard == b.at.at("data") % shard;
                                           })},
        {{"tensor", "context"}, agree({"data", "pipeline"})},
        {stage_axes(), agree({"pipeline"})},
        {part_axes(), agree({"context", "data"})},
        {{"pipeline"}, agree({"tensor", "context", "data"})},
        {{"expert_tensor"}, equal([=](std::uint32_t i) { return i / etp; })},
        {{"expert"}, expert},
        {RankGroups::inner({"expert"}), both(expert, equal([=](std::uint32_t i) { return i / near; }))},
        {RankGroups::outer({"expert"}), both(expert, equal([=](std::uint32_t i) { return i % near; }))},
        {{"expert_tensor", "expert"}, equal([=](std::uint32_t i) { return i / experts; })},
        {{"expert_data"}, expert_data}};
    if (inner % experts != 0) return all;  // where replicas hold whole expert groups:
    all.push_back(
        {RankGroups::inner({"expert_data"}), both(expert_data, equal([=](std::uint32_t i) { return i / inner; }))});
    all.push_back(
        {RankGroups::outer({"expert_data"}), both(expert_data, equal([=](std::uint32_t i) { return i % inner; }))});
    return all;
}

std::vector<RankId> expected(const Together& together, const std::vector<RankSeat>& seats, std::uint32_t rank) {
    std::vector<RankId> members;
    for (std::uint32_t other = 0; other < seats.size(); ++other) {
        if (together(seats[rank], seats[other])) members.push_back(RankId{other});
    }
    return members;
}

RC_GTEST_PROP(placed_groups, are_those_whose_coordinates_agree, ()) {
    const auto power = [](unsigned most) { return 1U << *rc::gen::inRange(0U, most + 1); };
    Layout layout = layout_of(power(2), power(1), power(2), power(3));
    layout.expert_tensor = *rc::gen::element(1U, layout.tensor);
    layout.expert = power(2);
    layout.expert_inner = *rc::gen::element(1U, layout.expert, (layout.expert + 1) / 2);
    layout.shard_ranks = power(1);
    std::vector<std::string> order{"tensor", "context", "data", "pipeline"};
    std::ranges::sort(order);
    for (unsigned i = *rc::gen::inRange(0U, 24U); i > 0; --i) std::ranges::next_permutation(order);
    layout.order = order;
    RC_PRE(layout.data % layout.shard_ranks == 0 && expert_layout_obstacle(layout).empty());
    const std::vector<RankSeat> where = seats(layout);
    for (const auto& [groups, together] : cases(layout)) {
        const PlacedGroups placed(groups, layout);
        for (std::uint32_t rank = 0; rank < layout.ranks(); ++rank) {
            std::vector<RankId> members = placed.members(RankId{rank});
            std::ranges::sort(members);
            RC_ASSERT(members == expected(together, where, rank));
        }
    }
}

TEST(placed_groups, embedding_is_the_first_and_the_last_stage_and_mirror_its_opposite) {
    Layout layout = layout_of(2, 1, 4, 3);
    layout.order = {"pipeline", "tensor", "context", "data"};
    const PlacedGroups embedding(RankGroups::embedding(), layout), mirror(RankGroups::mirror(), layout);
    const RankId last{3}, second{1}, third{2};
    EXPECT_EQ(embedding.members(last), (std::vector{RankId{0}, RankId{3}}));
    EXPECT_EQ(mirror.members(third), (std::vector{second, third}));
    EXPECT_EQ(mirror.members(last), (std::vector{RankId{0}, last}));
    const PlacedGroups odd(RankGroups::mirror(), layout_of(1, 1, 3, 1));
    EXPECT_EQ(odd.members(RankId{1}), (std::vector{RankId{1}})) << "the middle stage is its own mirror";
}

TEST(placed_groups, expert_groups_that_cut_an_axis_unevenly_are_refused_with_the_numbers) {
    Layout layout = layout_of(3, 1, 1, 4);
    layout.expert = 2;
    EXPECT_EQ(
        expert_layout_obstacle(layout),
        "expert 2 x expert_tensor 1 cuts an axis of the tensor 3 x context 1 x data 4 = 12 ranks of a stage unevenly");
    layout.expert = 5;
    EXPECT_EQ(expert_layout_obstacle(layout),
              "expert 5 x expert_tensor 1 = 5 does not divide the tensor 3 x context 1 x data 4 = 12 ranks of a stage");
    layout.expert = 4;
    layout.expert_tensor = 3;
    EXPECT_EQ(expert_layout_obstacle(layout), "");
}

}  // namespace
}  // namespace weft
