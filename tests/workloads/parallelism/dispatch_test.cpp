// Calls of dispatchers: bytes against a twin that draws where tokens go and counts what crosses which link.
#include "workloads/parallelism/experts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

#include "tests/workloads/soundness.hpp"
#include "tests/workloads/studies.hpp"
#include "workloads/volume/volume.hpp"

namespace weft {
namespace {

constexpr double tokens = 512, hidden = 256, bf16 = 2;

// 16 expert ranks on two nodes of eight.
std::vector<std::string> settings_of(const std::string& dispatcher, const std::vector<std::string>& more = {}) {
    std::vector<std::string> all{"machine=dgx-h100",      "framework=megatron",     "megatron.version=core-0.15",
                                 "model.layers=2",        "model.hidden=256",       "model.heads=8",
                                 "model.vocabulary=1024", "model.experts.count=32", "model.biases=false",
                                 "model.experts.top_k=4", "layout.tensor=1",        "layout.pipeline=1",
                                 "layout.data=16",        "layout.expert=16",       "batch.sequence=512",
                                 "batch.global=16",       "precision=bf16",         "experts.dispatcher=" + dispatcher};
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

Around around(const Job& job, Pass pass) {
    Around around;
    add_dispatch(job, pass, around);
    return around;
}

// Copies of tokens of one rank, per token: to other nodes, and, as any rank of a node sends them on, in the node.
struct Copies {
    double across = 0, inside = 0;
};

Copies drawn(const Experts& experts, std::uint32_t ranks, std::uint32_t inner) {
    std::mt19937 random(7);
    constexpr std::uint32_t draws = 40'000;
    const std::uint32_t own = experts.count / ranks, of_group = experts.count / experts.groups;
    Copies sum;
    for (std::uint32_t draw = 0; draw < draws; ++draw) {
        std::vector<std::uint32_t> groups(experts.groups), allowed;
        std::iota(groups.begin(), groups.end(), 0U);
        std::ranges::shuffle(groups, random);
        for (std::uint32_t g = 0; g < experts.token_groups; ++g) {
            for (std::uint32_t i = 0; i < of_group; ++i) allowed.push_back(groups[g] * of_group + i);
        }
        std::ranges::shuffle(allowed, random);
        const std::uint32_t home = draw % ranks;  // sends along its place on each node
        std::set<std::uint32_t> places;
        for (std::uint32_t k = 0; k < experts.top_k; ++k) places.insert(allowed[k] / own);
        std::set<std::uint32_t> nodes;
        for (const std::uint32_t place : places) {
            nodes.insert(place / inner);
            if (place % inner != home % inner) sum.inside += 1;
        }
        nodes.erase(home / inner);
        sum.across += static_cast<double>(nodes.size());
    }
    return {sum.across / draws, sum.inside / draws};
}

// What of an all-to-all's message leaves its sender.
double sent(const Call& call, std::uint32_t members) { return call.message.value * (members - 1) / members; }

TEST(dispatch, under_deepep_crosses_the_network_once_per_node) {
    for (const std::vector<std::string>& limit :
         {std::vector<std::string>{}, {"model.experts.groups=8", "model.experts.token_groups=4"}}) {
        const Job job = test::small_study(settings_of("deepep", limit)).job;
        ASSERT_EQ(job.layout.expert_inner, 8U);
        const Copies copies = drawn(job.model.experts, 16, 8);
        const std::vector<Call> out = around(job, Pass::forward).before;
        ASSERT_EQ(out.size(), 2U);
        EXPECT_EQ(out[0].group, RankGroups::outer({"expert"}));
        EXPECT_EQ(out[1].group, RankGroups::inner({"expert"}));
        EXPECT_EQ(out[1].start, Start::with_previous);
        const double row = hidden * bf16;
        EXPECT_NEAR(sent(out[0], 2) / row, tokens * copies.across, 0.01 * tokens);
        EXPECT_NEAR(sent(out[1], 8) / row, tokens * copies.inside, 0.02 * tokens);
        EXPECT_LT(out[1].message, Bytes{tokens * 4 * row});  // fewer than a copy for each expert
    }
}

TEST(dispatch, of_all_to_all_sends_a_copy_for_each_expert) {
    const std::vector<Call> out =
        around(test::small_study(settings_of("all_to_all", {"megatron.version=core-0.12"})).job, Pass::forward).before;
    ASSERT_EQ(out.size(), 1U);
    EXPECT_EQ(out[0].message, Bytes{tokens * 4 * hidden * bf16});
}

// One of four bytes for each copy, since core-0.13: out after the copies, its gradient back after theirs.
TEST(dispatch, of_all_to_all_sends_probabilities_along) {
    const Job job = test::small_study(settings_of("all_to_all", {"megatron.version=core-0.13"})).job;
    const Around forward = around(job, Pass::forward), backward = around(job, Pass::backward);
    ASSERT_EQ(forward.before.size(), 2U);
    EXPECT_EQ(forward.before[1].op, Collective::all_to_all);
    EXPECT_EQ(forward.before[1].group, RankGroups{"expert"});
    EXPECT_EQ(forward.before[1].message, Bytes{tokens * 4 * 4});
    EXPECT_EQ(forward.after.size(), 1U);
    EXPECT_EQ(backward.before.size(), 1U);
    ASSERT_EQ(backward.after.size(), 2U);
    EXPECT_EQ(backward.after[1].message, Bytes{tokens * 4 * 4});
}

// Of experts cut by two ranks the gathered probabilities are those of both.
TEST(dispatch, of_all_to_all_gathers_probabilities_where_experts_are_cut) {
    const Job job =
        test::small_study(settings_of("all_to_all", {"layout.tensor=2", "layout.expert_tensor=2", "layout.data=8",
                                                     "layout.expert=8", "sequence_parallel=true", "batch.global=8"}))
            .job;
    const Around forward = around(job, Pass::forward), backward = around(job, Pass::backward);
    const auto kinds = [](const std::vector<Call>& calls) {
        std::vector<RankGroups> groups;
        for (const Call& call : calls) groups.push_back(call.group);
        return groups;
    };
    const RankGroups expert = RankGroups{"expert"}, cut = RankGroups{"expert_tensor"};
    EXPECT_EQ(kinds(forward.before), (std::vector{expert, expert, cut, cut}));
    EXPECT_EQ(forward.before[1].message, Bytes{tokens / 2 * 4 * 4});
    EXPECT_EQ(forward.before[3].message, Bytes{tokens * 4 * 4});
    EXPECT_EQ(kinds(backward.after), (std::vector{cut, cut, expert, expert}));
    EXPECT_EQ(backward.after[1].op, Collective::reduce_scatter);
    EXPECT_EQ(test::unsoundness(test::small_study(settings_of("all_to_all"))), "");
}

// With bf16 tokens and sums in fp32, as the router's probabilities are.
TEST(dispatch, by_all_gather_gives_every_rank_all_tokens) {
    const Job job = test::small_study(settings_of("all_gather")).job;
    const Around forward = around(job, Pass::forward), backward = around(job, Pass::backward);
    EXPECT_EQ(forward.before.back().message, Bytes{16 * tokens * hidden * bf16});
    EXPECT_EQ(forward.after.front().message, Bytes{16 * tokens * hidden * 4});
    EXPECT_EQ(backward.before.front().message, Bytes{16 * tokens * hidden * 4});
    EXPECT_EQ(backward.after.front().message, Bytes{16 * tokens * hidden * bf16});
}

// A byte an element and a scale of four bytes for 128 of them; sums come back in bf16.
TEST(dispatch, in_8_bits_halves_what_goes_out_alone) {
    const Job wide = test::small_study(settings_of("deepep", {"precision=fp8"})).job;
    const Job narrow = test::small_study(settings_of("deepep", {"precision=fp8", "experts.fp8_dispatch=true"})).job;
    for (const Pass pass : {Pass::forward, Pass::backward}) {
        const Around a = around(wide, pass), b = around(narrow, pass);
        EXPECT_DOUBLE_EQ(b.before[0].message / a.before[0].message, (1 + 4.0 / 128) / 2);
        EXPECT_EQ(b.after[0].message, a.after[0].message);
    }
}

TEST(dispatch, on_one_node_is_one_call) {
    const Job node = test::small_study(settings_of("hybridep", {"layout.data=8", "layout.expert=8"})).job;
    ASSERT_EQ(around(node, Pass::forward).before.size(), 1U);
    EXPECT_EQ(around(node, Pass::forward).before[0].group, RankGroups::inner({"expert"}));
}

TEST(dispatch, by_kernels_with_two_levels_is_sound) {
    for (const char* dispatcher : {"all_gather", "deepep", "hybridep"}) {
        EXPECT_EQ(test::unsoundness(test::small_study(settings_of(dispatcher))), "") << dispatcher;
    }
}

TEST(dispatch, is_refused_where_a_version_has_it_not) {
    const auto refused = [](const std::string& dispatcher, const std::string& version) {
        return test::mistake_at(settings_of(dispatcher, {"megatron.version=" + version}), "experts.dispatcher");
    };
    EXPECT_NE(refused("deepep", "core-0.11").find("core-0.12 or later"), std::string::npos);
    EXPECT_EQ(refused("deepep", "core-0.12"), "");
    EXPECT_NE(refused("hybridep", "core-0.14").find("core-0.15 or later"), std::string::npos);
    EXPECT_NE(
        test::mistake_at(settings_of("deepep", {"experts.capacity_factor=1"}), "experts.dispatcher").find("capacity"),
        std::string::npos);
    EXPECT_NE(test::mistake_at(settings_of("all_to_all", {"experts.fp8_dispatch=true"}), "experts.fp8_dispatch")
                  .find("deepep and hybridep only"),
              std::string::npos);
    EXPECT_NE(test::mistake_at(settings_of("hybridep", {"experts.fused_indices=true"}), "experts.fused_indices")
                  .find("only deepep"),
              std::string::npos);
}

// 32 experts on 16 ranks: two each.
TEST(balancing, leaves_an_imbalance_that_is_called_an_assumption) {
    const Job even = test::small_study(settings_of("deepep", {"experts.balancing=even"})).job;
    EXPECT_EQ(even.experts.imbalance, 1.0);
    EXPECT_EQ(imbalance_assumption(even), "");
    const Job loss = test::small_study(settings_of("deepep", {"experts.balancing=auxiliary_loss"})).job;
    EXPECT_DOUBLE_EQ(loss.experts.imbalance, 1 + 0.52 / std::sqrt(2.0));
    EXPECT_NE(imbalance_assumption(loss).find("assumption"), std::string::npos);
    const Job said = test::small_study(settings_of("deepep", {"experts.balancing=bias", "experts.imbalance=1.2"})).job;
    EXPECT_EQ(said.experts.imbalance, 1.2);
    EXPECT_EQ(imbalance_assumption(said), "");
    const Job both = test::small_study(settings_of("deepep", {"experts.balancing=auxiliary_loss",
                                                              "model.experts.balancing_bias=true"}))
                         .job;
    EXPECT_DOUBLE_EQ(both.experts.imbalance, 1 + 0.04 / std::sqrt(2.0));  // a bias does more than the loss beside it
}

}  // namespace
}  // namespace weft
