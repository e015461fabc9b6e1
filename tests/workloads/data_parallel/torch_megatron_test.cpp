// torch DDP and Megatron-core beyond the tables of buckets.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "tests/workloads/data_parallel/stage_driver.hpp"

namespace weft {
namespace {

using test::Part;
using test::PlayedCall;

std::vector<PlayedCall> labelled(const std::vector<PlayedCall>& calls, std::string_view label) {
    std::vector<PlayedCall> chosen;
    for (const PlayedCall& played : calls) {
        if (played.call.label == label) chosen.push_back(played);
    }
    return chosen;
}

// Registration order need not be execution order, so that the first step has one bucket; the later ones overlap.
TEST(torch_ddp, reduces_once_in_the_first_step) {
    const auto modules = test::neox_stage(24, 2048);
    const ShardingInput first{.step = StepKind::first, .ranks = 8};
    const auto calls = labelled(test::play_step(make_torch_ddp, first, modules), "all-reduce gradients");
    ASSERT_EQ(calls.size(), 1U);
    EXPECT_EQ(calls.front().call.message.value, 2.0 * 1414647808);
}

TEST(torch_ddp, reduces_beside_the_last_backward_only) {
    ShardingInput input{.micro_batches = 3, .ranks = 8};
    const auto calls =
        labelled(test::play_step(make_torch_ddp, input, test::neox_stage(24, 2048)), "all-reduce gradients");
    EXPECT_EQ(calls.size(), 74U);
    for (const PlayedCall& played : calls) {
        EXPECT_TRUE(played.beside);
        EXPECT_EQ(played.part, Part::backward);
    }
}

TEST(torch_ddp, broadcasts_in_pieces_of_250_mebibytes) {
    const auto calls = test::play_start_up(make_torch_ddp, {.ranks = 8}, test::neox_stage(24, 2048));
    double bytes = 0;
    for (std::size_t i = 0; i < calls.size(); ++i) {
        const double message = calls[i].call.message.value;
        EXPECT_TRUE(i + 1 == calls.size() || message >= 250 * 1048576.0);
        bytes += message;
    }
    EXPECT_EQ(bytes, 2.0 * 1414647808);
}

TEST(megatron_ddp, uses_one_bucket_without_overlap_and_beyond_the_first_stage) {
    const auto modules = test::neox_stage(24, 2048);
    for (const auto& [overlap, stage, buckets] :
         {std::tuple{Setting::on, 0U, 26U}, {Setting::off, 0U, 1U}, {Setting::on, 1U, 1U}}) {
        ShardingInput input{.stage = stage, .stages = 2, .ranks = 16, .gradient_overlap = overlap};
        const auto calls = labelled(test::play_step(make_megatron_ddp, input, modules), "all-reduce gradients");
        EXPECT_EQ(calls.size(), buckets);
        for (const PlayedCall& played : calls) EXPECT_EQ(played.beside, overlap == Setting::on);
    }
}

TEST(megatron_ddp, keeps_experts_in_buffers_of_their_own) {
    auto modules = test::neox_stage(4, 64, 512);
    double expert = 0;
    for (StageModule& module : modules) {
        if (module.name != "4h_to_h") continue;
        module.expert = true;
        expert += static_cast<double>(module.tensors[0] + module.tensors[1]);
    }
    const ShardingInput input{.ranks = 8, .expert_ranks = 2};
    std::map<RankGroups, double> bytes;
    for (const PlayedCall& played :
         labelled(test::play_step(make_megatron_ddp, input, modules), "all-reduce gradients")) {
        bytes[played.call.group] += played.call.message.value;
    }
    EXPECT_EQ(bytes[RankGroups{"expert_data"}], 2 * expert);
    EXPECT_EQ(bytes[copy_axes()], 2 * (static_cast<double>(test::elements_of(modules)) - expert));
}

// The gather of a bucket starts when the module that waited for the one before begins: never two ahead.
TEST(megatron_ddp, gathers_one_bucket_ahead_of_the_forward_pass) {
    const auto modules = test::neox_stage(24, 2048);
    ShardingInput input{.ranks = 16, .zero = 1, .gradient_overlap = Setting::on};
    input.modules = modules;
    input.megatron.overlap_parameters = Setting::on;
    const auto engine = make_megatron_ddp(input);
    test::Player player{modules, *engine};
    player.begin_step();
    EXPECT_EQ(player.calls().size(), 1U) << "with the zeroing of gradients";
    player.forward(0, Accumulation::complete);
    int open = 0, most = 0, gathers = 0;
    for (const Action& action : player.script.actions()) {
        if (action.kind == Action::Kind::issue) most = std::max(most, ++open), ++gathers;
        if (action.kind == Action::Kind::wait) --open;
    }
    EXPECT_EQ(gathers, 26);
    EXPECT_EQ(most, 1);
    EXPECT_EQ(open, 0);
}

TEST(megatron_ddp, gathers_nothing_for_one_rank) {
    for (const Setting overlap : {Setting::off, Setting::on}) {
        ShardingInput input{.ranks = 1, .zero = 1};
        input.megatron.overlap_parameters = overlap;
        const auto calls = test::play_step(make_megatron_ddp, input, test::neox_stage(2, 64));
        EXPECT_TRUE(labelled(calls, "all-gather parameters").empty());
        EXPECT_EQ(labelled(calls, "reduce-scatter gradients").size(), 1U);
    }
}

}  // namespace
}  // namespace weft
