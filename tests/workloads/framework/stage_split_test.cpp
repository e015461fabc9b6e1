#include "workloads/framework/stage_split.hpp"

#include <gtest/gtest.h>

#include <numeric>
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
