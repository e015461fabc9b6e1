#include "workloads/layout/layout.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/csv.hpp"

namespace weft {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string why_not(std::string_view text) {
    std::string why;
    parse_stage_layout(text, why);
    return why;
}

// What depends on the number of pipeline stages is the job's to check.
TEST(stage_layout, texts_mean_what_megatron_makes_of_them) {
    for (const auto& row : test::read_csv(WEFT_TEST_DATA "/workloads/data/stage_layouts.csv")) {
        const std::string& text = row.at("text");
        std::string why;
        const StageLayout layout = parse_stage_layout(text, why);
        const auto parts = static_cast<std::uint32_t>(layout.layers.size()),
                   stages = static_cast<std::uint32_t>(std::stoul(row.at("pipeline")));
        const bool of_stages = parts % stages == 0 && (!layout.predictions || *layout.predictions + stages >= parts);
        if (row.at("layers") == "refused") {
            EXPECT_FALSE(why.empty() && of_stages) << text;
            continue;
        }
        EXPECT_EQ(why, "") << text;
        EXPECT_EQ(fmt::format("{}", fmt::join(layout.layers, "-")), row.at("layers")) << text;
        const std::string& predictions = row.at("predictions");
        EXPECT_EQ(layout.predictions.has_value(), !predictions.empty()) << text;
        if (layout.predictions) {
            EXPECT_EQ(fmt::to_string(*layout.predictions), predictions) << text;
        }
        const std::string again =
            stage_layout_text(layout.layers, layout.predictions.value_or(parts - 1), layout.mtp_layers);
        EXPECT_EQ(parse_stage_layout(again, why).layers, layout.layers) << again;
    }
}

TEST(stage_layout, texts_count_the_modules_of_a_part) {
    std::string why;
    const StageLayout layout = parse_stage_layout("Et|t*2m*2L", why);
    EXPECT_THAT(layout.layers, ElementsAre(1, 2));
    EXPECT_EQ(layout.mtp_layers, 2U);
    EXPECT_EQ(stage_layout_text({1, 2}, 1, 2), "Et|t*2m*2L");
}

TEST(stage_layout, what_is_none_is_named) {
    EXPECT_THAT(why_not("Et|xL"), HasSubstr("'x' is no layer"));
    EXPECT_THAT(why_not("|EtL"), HasSubstr("first part begins with the one E"));
    EXPECT_THAT(why_not("Et|L|"), HasSubstr("last part ends with the one L"));
    EXPECT_THAT(why_not("Em|tL"), HasSubstr("before prediction modules"));
    EXPECT_THAT(why_not("E(t|)*99999999999L"), HasSubstr("unrolls to more"));
    EXPECT_THAT(why_not("Et*99999999999999999999L"), HasSubstr("unrolls to more"));
}

}  // namespace
}  // namespace weft
