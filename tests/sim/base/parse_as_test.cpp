#include "sim/base/texts.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace weft {
namespace {

TEST(parse_as, numbers_are_the_whole_word) {
    EXPECT_EQ(parse_as<std::uint32_t>("0"), 0U);
    EXPECT_EQ(parse_as<std::uint32_t>("4294967295"), 4294967295U);
    for (const char* const wrong : {"", " 1", "1 ", "-1", "+1", "1.0", "0x10", "4294967296", "one"})
        EXPECT_FALSE(parse_as<std::uint32_t>(wrong)) << wrong;
}

}  // namespace
}  // namespace weft
