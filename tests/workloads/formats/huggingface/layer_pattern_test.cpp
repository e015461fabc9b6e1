#include "workloads/formats/huggingface/keys.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace weft {
namespace {

std::vector<bool> layers(std::string_view letters) {
    std::vector<bool> layers;
    for (const char letter : letters) layers.push_back(letter == 'x');
    return layers;
}

TEST(expert_pattern, finds_the_rule_that_a_list_was_made_by) {
    EXPECT_TRUE(rc::check([] {
        const auto first = *rc::gen::inRange(0U, 5U), every = *rc::gen::inRange(1U, 5U);
        std::vector<bool> listed;
        for (std::uint32_t i = 0; i < 20; ++i) listed.push_back(i >= first && (i - first) % every == 0);
        const auto found = expert_pattern(listed);
        RC_ASSERT(found && found->first == first && found->every == every);
    }));
}

TEST(window_pattern, finds_the_rule_that_a_list_was_made_by) {
    EXPECT_TRUE(rc::check([] {
        const auto first = *rc::gen::inRange(0U, 5U), every = *rc::gen::element(0U, 2U, 3U, 6U);
        std::vector<bool> listed;
        for (std::uint32_t i = 0; i < 20; ++i) {
            listed.push_back(i >= first && (every == 0 || (i - first + 1) % every != 0));
        }
        const auto found = window_pattern(listed);
        RC_ASSERT(found && found->first == first && found->every == every);
    }));
}

TEST(layer_patterns, do_not_make_up_a_rule) {
    for (const char* const letters : {"", "----", "x-xx", "-x-x-xx"}) {
        EXPECT_FALSE(expert_pattern(layers(letters))) << letters;
    }
    for (const char* const letters : {"", "----", "xx-xx-xxx", "x--x"}) {
        EXPECT_FALSE(window_pattern(layers(letters))) << letters;
    }
}

}  // namespace
}  // namespace weft
