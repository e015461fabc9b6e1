#include "sim/base/texts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

namespace weft {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(texts, numbers_are_the_whole_word) {
    EXPECT_EQ(parse_as<std::uint32_t>("0"), 0U);
    EXPECT_EQ(parse_as<std::uint32_t>("4294967295"), 4294967295U);
    for (const char* const wrong : {"", " 1", "1 ", "-1", "+1", "1.0", "0x10", "4294967296", "one"})
        EXPECT_FALSE(parse_as<std::uint32_t>(wrong)) << wrong;
}

TEST(texts, parts_stand_before_between_and_behind_separators) {
    EXPECT_THAT(parts_of("", ','), ElementsAre(""));
    EXPECT_THAT(parts_of("a,,b c,", ','), ElementsAre("a", "", "b c", ""));
    EXPECT_THAT(ranges_in("0,4-6"), ElementsAre(Pair("0", "0"), Pair("4", "6")));
    EXPECT_EQ(trimmed(" \ta b \r"), "a b");
    EXPECT_EQ(trimmed(" \t"), "");
}

}  // namespace
}  // namespace weft
