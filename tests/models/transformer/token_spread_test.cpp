// Where tokens' experts lie, against every choice of experts that there is.
#include "models/transformer/kernel_parts.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <set>

namespace weft {
namespace {

// The mean over all choices of `chosen` of the groups, and of top_k experts in them.
double counted(const Experts& experts, std::uint32_t units) {
    const std::uint32_t of_group = experts.count / experts.groups, of_unit = experts.count / units;
    double met = 0, ways = 0;
    for (std::uint32_t groups = 0; groups < 1U << experts.groups; ++groups) {
        if (std::popcount(groups) != static_cast<int>(experts.token_groups)) continue;
        for (std::uint32_t choice = 0; choice < 1U << experts.count; ++choice) {
            if (std::popcount(choice) != static_cast<int>(experts.top_k)) continue;
            std::set<std::uint32_t> places;
            bool allowed = true;
            for (std::uint32_t expert = 0; expert < experts.count; ++expert) {
                if ((choice >> expert & 1) == 0) continue;
                allowed = allowed && (groups >> (expert / of_group) & 1) == 1;
                places.insert(expert / of_unit);
            }
            if (!allowed) continue;
            met += static_cast<double>(places.size());
            ways += 1;
        }
    }
    return met / ways;
}

TEST(expected_units, are_the_mean_over_all_choices_of_experts) {
    for (const std::uint32_t top_k : {1U, 2U, 4U}) {
        for (const std::uint32_t units : {1U, 2U, 3U, 4U, 6U, 12U}) {
            const Experts any{.count = 12, .top_k = top_k};
            EXPECT_NEAR(expected_units(any, units), counted(any, units), 1e-12) << top_k << " in " << units;
        }
    }
}

TEST(expected_units, are_fewer_where_a_token_chooses_groups_first) {
    for (const std::uint32_t chosen : {1U, 2U, 3U, 4U}) {
        for (const std::uint32_t units : {1U, 2U, 4U, 12U}) {
            const Experts limited{.count = 12, .top_k = 3, .groups = 4, .token_groups = chosen};
            EXPECT_NEAR(expected_units(limited, units), counted(limited, units), 1e-12) << chosen << " in " << units;
            EXPECT_LE(expected_units(limited, 4), chosen);
        }
    }
}

// DeepSeek-V3 (2412.19437, section 2.1.2): no more than four nodes; and eight experts are on nearly as many ranks.
TEST(expected_units, of_deepseek_are_below_its_limit_of_nodes) {
    const Experts experts{.count = 256, .top_k = 8, .groups = 8, .token_groups = 4};
    EXPECT_NEAR(expected_units(experts, 8), 3.629, 1e-3);   // 4 (1 - C(96, 8) / C(128, 8))
    EXPECT_NEAR(expected_units(experts, 64), 7.359, 1e-3);  // 32 (1 - C(124, 8) / C(128, 8))
}

TEST(units_obstacle, says_where_ranks_cut_groups) {
    const Experts experts{.count = 24, .top_k = 2, .groups = 8, .token_groups = 4};
    EXPECT_EQ(units_obstacle(experts, 4), "");
    EXPECT_EQ(units_obstacle(experts, 24), "");
    EXPECT_NE(units_obstacle(experts, 6).find("6 places"), std::string::npos);
}

}  // namespace
}  // namespace weft
