#include "workloads/framework/framework.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>
#include <span>
#include <sstream>

#include "tests/csv.hpp"

namespace weft {
namespace {

std::vector<std::uint32_t> dashed(const std::string& text) {  // "1-2-2-1"
    std::vector<std::uint32_t> numbers;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, '-');)
        numbers.push_back(static_cast<std::uint32_t>(std::stoul(part)));
    return numbers;
}

// DeepSpeed 0.14's dynamic programme over (items, parts), which keeps for each prefix the cut with the smallest
// difference between the heaviest and the lightest part so far; ties go to the latest cut. Returns parts + 1
// boundaries.
std::vector<std::uint32_t> balanced_partition(std::span<const std::uint32_t> weights, std::uint32_t parts) {
    const auto items = static_cast<std::uint32_t>(weights.size());
    if (items <= parts) {
        std::vector<std::uint32_t> bounds(parts + 1);
        for (std::uint32_t i = 0; i <= parts; ++i) bounds[i] = std::min(i, items);
        return bounds;
    }
    constexpr auto infinite = std::numeric_limits<std::int64_t>::max() / 4;
    struct Best {
        std::int64_t heaviest = infinite, lightest = infinite, spread = infinite;
        std::uint32_t cut = 0;
    };
    std::vector<std::int64_t> prefix(items + 1, 0);
    std::partial_sum(weights.begin(), weights.end(), prefix.begin() + 1,
                     [](std::int64_t a, std::int64_t b) { return a + b; });
    std::vector<std::vector<Best>> best(items + 1, std::vector<Best>(parts + 1));
    best[0][0] = {.heaviest = 0, .lightest = infinite, .spread = 0, .cut = 0};
    for (std::uint32_t i = 1; i <= items; ++i) {
        for (std::uint32_t j = 1; j <= std::min(i, parts); ++j) {
            Best& here = best[i][j];
            for (std::uint32_t cut = 0; cut < i; ++cut) {
                const Best& before = best[cut][j - 1];
                if (before.heaviest == infinite) continue;
                const std::int64_t weight = prefix[i] - prefix[cut];
                const std::int64_t heaviest = std::max(before.heaviest, weight);
                const std::int64_t lightest = std::min(before.lightest, weight);
                if (heaviest - lightest <= here.spread) here = {heaviest, lightest, heaviest - lightest, cut};
            }
        }
    }
    std::vector<std::uint32_t> bounds(parts + 1, items);
    for (std::uint32_t j = parts; j > 0; --j) bounds[j - 1] = best[bounds[j]][j].cut;
    return bounds;
}

std::vector<std::uint32_t> partitioned(std::uint32_t layers, std::uint32_t stages) {
    // embedding, reshape, layers, reshape, final norm, output layer
    std::vector<std::uint32_t> weights(layers + 5, 1);
    weights.front() = 0;
    weights[layers + 3] = weights[layers + 4] = 0;
    const std::vector<std::uint32_t> bounds = balanced_partition(weights, stages);
    std::vector<std::uint32_t> split(stages);
    for (std::uint32_t s = 0; s < stages; ++s) {
        const std::uint32_t first = std::clamp(bounds[s], 2U, layers + 2);
        const std::uint32_t last = std::clamp(bounds[s + 1], 2U, layers + 2);
        split[s] = last - first;
    }
    return split;
}

TEST(stage_split, deals_layers_as_deepspeed_deals_the_gpt_neox_models) {
    for (const auto& row : test::read_csv(WEFT_TEST_DATA "/models/data/neox_models.csv")) {
        const auto layers = static_cast<std::uint32_t>(std::stoul(row.at("num_layers")));
        for (const std::uint32_t stages : {2U, 4U, 8U}) {
            EXPECT_EQ(neox_split(layers, stages), dashed(row.at("pp_layers_per_stage_" + std::to_string(stages))))
                << row.at("model") << " over " << stages;
        }
    }
}

TEST(stage_split, keeps_every_layer_for_any_size) {
    for (std::uint32_t layers = 1; layers < 40; ++layers) {
        for (std::uint32_t stages = 1; stages <= layers + 2; ++stages) {
            const auto split = neox_split(layers, stages);
            ASSERT_EQ(split.size(), stages);
            EXPECT_EQ(std::accumulate(split.begin(), split.end(), 0U), layers) << layers << " over " << stages;
        }
    }
}

TEST(stage_split, a_heavy_item_stands_alone) {
    const std::vector<std::uint32_t> weights{1, 1, 9, 1, 1};
    EXPECT_EQ(balanced_partition(weights, 3), (std::vector<std::uint32_t>{0, 2, 3, 5}));
}

TEST(stage_split, deals_as_the_partition_of_deepspeed_does) {
    for (const std::uint32_t layers : {1U, 2U, 3U, 7U, 8U, 24U, 31U, 44U}) {
        for (std::uint32_t stages = 1; stages <= layers + 2; ++stages) {
            EXPECT_EQ(neox_split(layers, stages), partitioned(layers, stages)) << layers << " over " << stages;
        }
    }
}

// As many candidates as a search for the layout of a trillion parameters has.
TEST(stage_split, takes_next_to_no_time) {
    const auto begin = std::chrono::steady_clock::now();
    std::size_t parts = 0;
    for (std::uint32_t i = 0; i < 100'000; ++i) parts += neox_split(2048, 64 + i % 64).size();
    EXPECT_GT(parts, 100'000U * 64);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST(stage_split, even_says_which_numbers_do_not_divide) {
    std::string why;
    EXPECT_TRUE(even_split(6, 8, why).empty());
    EXPECT_EQ(why, "8 pipeline stages do not divide 6 layers");
    EXPECT_EQ(even_split(8, 4, why), (std::vector<std::uint32_t>{2, 2, 2, 2}));
}

TEST(stage_split, ends_leaves_room_for_embedding_and_output_layer) {
    std::string why;
    EXPECT_EQ(ends_split(22, 8, why), (std::vector<std::uint32_t>{2, 3, 3, 3, 3, 3, 3, 2}));
    EXPECT_EQ(ends_split(3, 1, why), (std::vector<std::uint32_t>{3}));
    EXPECT_TRUE(ends_split(8, 4, why).empty());
    EXPECT_EQ(why, "4 pipeline stages do not divide 8 layers, embedding and output layer");
}

}  // namespace
}  // namespace weft
