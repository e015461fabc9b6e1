// ZeRO++ against the volumes of its paper (arXiv 2306.10209): in fp16 elements between nodes, the gathers fall from 2 P
// to P/2 and nothing, the gradients from P to P/4, and scales add little.
#include "workloads/data_parallel/zero3_calls.hpp"

#include <gtest/gtest.h>

#include "tests/workloads/data_parallel/stage_driver.hpp"

namespace weft {
namespace {

using test::PlayedCall;

constexpr std::uint32_t ranks = 16;
constexpr std::uint32_t node_ranks = 8;

// No reuse and no prefetch limits at play: every module is gathered for forward and again for backward.
ShardingInput gathering_twice() {
    ShardingInput input{.inner_ranks = node_ranks, .node_ranks = node_ranks, .zero = 3};
    input.ranks = ranks;
    input.deepspeed.max_reuse_elements = 0;
    input.deepspeed.prefetch_elements = 0;
    input.deepspeed.persistence_elements = 0;
    return input;
}

struct Volume {
    double payload = 0, scales = 0;  // bytes of messages
    double calls = 0;
};

Volume volume(const std::vector<PlayedCall>& calls, Collective op, RankGroups group) {
    Volume sum;
    for (const PlayedCall& played : calls) {
        if (played.call.op != op || played.call.group != group) continue;
        const bool scales = played.call.label.ends_with("scales");
        (scales ? sum.scales : sum.payload) += played.call.message.value;
        sum.calls += 1;
    }
    return sum;
}

const std::vector<StageModule>& model() {
    static const std::vector<StageModule> modules = test::neox_stage(6, 1024);
    return modules;
}
double fp16_bytes() { return 2.0 * static_cast<double>(test::elements_of(model())); }

TEST(zeropp, quantised_weights_halve_the_gathers_but_for_scales) {
    ShardingInput input = gathering_twice();
    const Volume plain =
        volume(test::play_step(make_deepspeed_zero3, input, model()), Collective::all_gather, copy_axes());
    input.deepspeed.quantized_weights = Setting::on;
    const Volume quantised =
        volume(test::play_step(make_deepspeed_zero3, input, model()), Collective::all_gather, copy_axes());
    EXPECT_EQ(quantised.payload, plain.payload / 2);
    EXPECT_EQ(quantised.calls, 2 * plain.calls);
    EXPECT_GT(quantised.scales, 0);
    EXPECT_LT(quantised.scales, 0.002 * quantised.payload);
}

// With hpZ forward is global and everything after a tensor's first use stays inside the node.
TEST(zeropp, second_gathers_stay_inside_the_node) {
    ShardingInput input = gathering_twice();
    input.deepspeed.hierarchical_ranks = node_ranks;
    for (const std::uint32_t micro_batches : {1U, 3U}) {
        input.micro_batches = micro_batches;
        const auto calls = test::play_step(make_deepspeed_zero3, input, model());
        const double own = fp16_bytes();
        EXPECT_EQ(volume(calls, Collective::all_gather, copy_axes()).payload, own);
        const double inner = volume(calls, Collective::all_gather, RankGroups::inner(copy_axes())).payload;
        // Biases that their module hands out stay resident, so they are not gathered twice.
        EXPECT_LE(inner, (2 * micro_batches - 1) * own);
        EXPECT_GT(inner, 0.99 * (2 * micro_batches - 1) * own);
    }
}

TEST(zeropp, quantised_gradients_cross_nodes_as_a_quarter_of_a_byte_per_element) {
    ShardingInput input = gathering_twice();
    input.deepspeed.quantized_gradients = Setting::on;
    const auto calls = test::play_step(make_deepspeed_zero3, input, model());
    const std::uint64_t h = 1024, vocabulary = 50304;
    const double matrices = static_cast<double>(6 * 12 * h * h + 2 * vocabulary * h);
    const Volume inner = volume(calls, Collective::all_to_all, RankGroups::inner(copy_axes()));
    const Volume outer = volume(calls, Collective::all_to_all, RankGroups::outer({"data"}));
    EXPECT_EQ(inner.calls, 2 * (4 * 6 + 2)) << "values and scales of every matrix";
    EXPECT_EQ(outer.calls, inner.calls);
    EXPECT_EQ(inner.payload, matrices / 2);
    EXPECT_EQ(outer.payload, matrices / 2 / node_ranks);
    // Per hop one fp32 scale for each group; as many groups as the longest side.
    const double sides = static_cast<double>(6 * (3 * h + h + 4 * h + 4 * h) + 2 * vocabulary);
    EXPECT_EQ(inner.scales, 4 * sides);
    EXPECT_EQ(outer.scales, 4 * sides / node_ranks);
    // The vectors go as before, one by one.
    const Volume vectors = volume(calls, Collective::reduce_scatter, copy_axes());
    EXPECT_EQ(vectors.calls, 8 * 6 + 2);
    EXPECT_EQ(vectors.payload, 2.0 * (13 * 6 + 2) * h);
}

TEST(zeropp, together_cross_nodes_with_a_quarter_of_the_plain_volume) {
    ShardingInput input = gathering_twice();
    const auto across = [&] {
        const auto calls = test::play_step(make_deepspeed_zero3, input, model());
        double bytes = 0;  // what the ranks of a node exchange with others, in messages of the whole data group
        for (const PlayedCall& played : calls) {
            if (played.call.group == copy_axes()) bytes += played.call.message.value;
            // Every rank of a node has its own exchange over nodes.
            if (played.call.group == RankGroups::outer({"data"})) bytes += played.call.message.value * node_ranks;
        }
        return bytes / fp16_bytes();
    };
    EXPECT_NEAR(across(), 3.0, 0.01) << "gathered twice, scattered once";
    input.deepspeed.quantized_weights = input.deepspeed.quantized_gradients = Setting::on;
    input.deepspeed.hierarchical_ranks = node_ranks;
    EXPECT_NEAR(across(), 0.5 + 0.0 + 0.25, 0.01);
}

TEST(zeropp, a_single_node_keeps_its_gradients_whole) {
    ShardingInput input = gathering_twice();
    input.deepspeed.quantized_gradients = Setting::on;
    input.node_ranks = ranks;
    const auto calls = test::play_step(make_deepspeed_zero3, input, model());
    EXPECT_EQ(volume(calls, Collective::all_to_all, RankGroups::inner(copy_axes())).calls, 0);
    EXPECT_EQ(volume(calls, Collective::reduce_scatter, copy_axes()).payload, fp16_bytes());
}

TEST(zeropp, groups_of_scales_divide_what_they_scale) {
    for (std::uint64_t elements = 8; elements < 3'000'000; elements = elements * 3 / 2 / 8 * 8 + 8) {
        const std::uint64_t groups = quantization_groups(elements);
        EXPECT_EQ(elements % (8 * groups), 0U) << elements;
        EXPECT_LT(elements / groups, 16000U) << elements;
    }
    EXPECT_EQ(quantization_groups(8000), 1U);
    EXPECT_EQ(quantization_groups(1 << 20), 256U) << "132 groups at least, 256 of them divide, of 4,096 each";
}

}  // namespace
}  // namespace weft
