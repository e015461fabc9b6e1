// Groups against a slow oracle that compares coordinates of every pair of ranks.
#include "workloads/layout/groups_of_ranks.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

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

// Whether two ranks belong to one group of the kind.
bool together(GroupKind kind, const Layout& layout, const RankSeat& a, const RankSeat& b) {
    const auto agree = [&](std::initializer_list<const char*> axes) {
        return std::ranges::all_of(axes, [&](const char* axis) { return a.at.at(axis) == b.at.at(axis); });
    };
    const std::uint32_t etp = layout.expert_tensor, experts = etp * layout.expert;
    const std::uint32_t shard = layout.shard_ranks;
    switch (kind) {
        case GroupKind::tensor:
            return agree({"context", "data", "pipeline"});
        case GroupKind::context:
            return agree({"tensor", "data", "pipeline"});
        case GroupKind::data:
            return agree({"tensor", "pipeline"});
        case GroupKind::data_inner:
            return agree({"tensor", "pipeline"}) && a.at.at("data") / shard == b.at.at("data") / shard;
        case GroupKind::data_outer:
            return agree({"tensor", "context", "pipeline"}) && a.at.at("data") % shard == b.at.at("data") % shard;
        case GroupKind::tensor_context:
            return agree({"data", "pipeline"});
        case GroupKind::stage:
            return agree({"pipeline"});
        case GroupKind::model:
            return agree({"context", "data"});
        case GroupKind::pipeline:
            return agree({"tensor", "context", "data"});
        case GroupKind::expert_tensor:
            return agree({"pipeline"}) && a.in_stage / etp == b.in_stage / etp;
        case GroupKind::expert:
            return agree({"pipeline"}) && a.in_stage % etp == b.in_stage % etp &&
                   a.in_stage / experts == b.in_stage / experts;
        case GroupKind::expert_inner:
            return together(GroupKind::expert, layout, a, b) &&
                   a.in_stage / (etp * layout.expert_inner) == b.in_stage / (etp * layout.expert_inner);
        case GroupKind::expert_outer:
            return together(GroupKind::expert, layout, a, b) &&
                   a.in_stage % (etp * layout.expert_inner) == b.in_stage % (etp * layout.expert_inner);
        case GroupKind::expert_and_tensor:
            return agree({"pipeline"}) && a.in_stage / experts == b.in_stage / experts;
        case GroupKind::expert_data:
            return agree({"pipeline"}) && a.in_stage % experts == b.in_stage % experts;
        case GroupKind::expert_data_inner:
        case GroupKind::expert_data_outer: {
            const std::uint32_t inner = layout.ranks_of_stage() / layout.data * shard;
            const bool near = a.in_stage / inner == b.in_stage / inner,
                       alike = a.in_stage % inner == b.in_stage % inner;
            return together(GroupKind::expert_data, layout, a, b) &&
                   (kind == GroupKind::expert_data_inner ? near : alike);
        }
        default:
            return false;
    }
}

constexpr GroupKind kinds[] = {GroupKind::tensor,       GroupKind::context,        GroupKind::data,
                               GroupKind::data_inner,   GroupKind::data_outer,     GroupKind::model,
                               GroupKind::pipeline,     GroupKind::expert_tensor,  GroupKind::expert,
                               GroupKind::expert_inner, GroupKind::expert_outer,   GroupKind::expert_and_tensor,
                               GroupKind::expert_data,  GroupKind::tensor_context, GroupKind::stage};
// Where replicas hold whole expert groups.
constexpr GroupKind hybrid_kinds[] = {GroupKind::expert_data_inner, GroupKind::expert_data_outer};

std::vector<RankId> expected(GroupKind kind, const Layout& layout, const std::vector<RankSeat>& seats,
                             std::uint32_t rank) {
    std::vector<RankId> members;
    for (std::uint32_t other = 0; other < seats.size(); ++other) {
        if (together(kind, layout, seats[rank], seats[other])) members.push_back(RankId{other});
    }
    return members;
}

RC_GTEST_PROP(groups_of_ranks, are_those_whose_coordinates_agree, ()) {
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
    std::vector<GroupKind> chosen(std::begin(kinds), std::end(kinds));
    const std::uint32_t inner = layout.ranks_of_stage() / layout.data * layout.shard_ranks;
    if (inner % (layout.expert * layout.expert_tensor) == 0) {
        chosen.insert(chosen.end(), std::begin(hybrid_kinds), std::end(hybrid_kinds));
    }
    for (const GroupKind kind : chosen) {
        const RankGroups groups(kind, layout);
        for (std::uint32_t rank = 0; rank < layout.ranks(); ++rank) {
            const std::vector<RankId> wanted = expected(kind, layout, where, rank);
            std::vector<RankId> members = groups.members(RankId{rank});
            std::ranges::sort(members);
            RC_ASSERT(members == wanted);
            RC_ASSERT(groups.size() == wanted.size());
        }
    }
}

TEST(groups_of_ranks, embedding_is_the_first_and_the_last_stage_and_mirror_its_opposite) {
    Layout layout = layout_of(2, 1, 4, 3);
    layout.order = {"pipeline", "tensor", "context", "data"};
    const RankGroups embedding(GroupKind::embedding, layout), mirror(GroupKind::mirror, layout);
    const RankId last{3}, second{1}, third{2};
    EXPECT_EQ(embedding.members(last), (std::vector{RankId{0}, RankId{3}}));
    EXPECT_EQ(mirror.members(third), (std::vector{second, third}));
    EXPECT_EQ(mirror.members(last), (std::vector{RankId{0}, last}));
    EXPECT_EQ(embedding.stages(), 2U);
    const RankGroups odd(GroupKind::mirror, layout_of(1, 1, 3, 1));
    EXPECT_EQ(odd.members(RankId{1}), (std::vector{RankId{1}})) << "the middle stage is its own mirror";
}

TEST(groups_of_ranks, expert_groups_that_cut_an_axis_unevenly_are_refused_with_the_numbers) {
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
