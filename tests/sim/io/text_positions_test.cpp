#include "sim/io/diagnostics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace weft {
namespace {

using ::testing::ElementsAre;

std::string at(std::string_view text, std::size_t offset) {
    const TextPosition position = position_at(text, offset);
    return std::to_string(position.line) + ":" + std::to_string(position.column);
}

TEST(text_positions, lines_and_columns_count_from_one) {
    EXPECT_EQ(at("ab\ncd", 0), "1:1");
    EXPECT_EQ(at("ab\ncd", 2), "1:3") << "the line's end belongs to the line";
    EXPECT_EQ(at("ab\ncd", 3), "2:1");
    EXPECT_EQ(at("ab\ncd", 99), "2:3") << "past the end is the end";
    EXPECT_EQ(at("\xC3\xA9z", 2), "1:2") << "a character of two bytes is one column";
}

TEST(text_positions, lexemes_are_keys_scalars_and_opening_brackets) {
    //                               0123456789012345678901
    EXPECT_THAT(lexeme_offsets(R"({"a": [1, tr], "b":""})"), ElementsAre(0U, 1U, 6U, 7U, 10U, 15U, 19U));
}

TEST(text_positions, comments_and_quoted_brackets_are_no_lexemes) {
    EXPECT_THAT(lexeme_offsets("// {\n/* [ */ 1"), ElementsAre(13U));
    EXPECT_THAT(lexeme_offsets(R"(["\"[{//" , 2])"), ElementsAre(0U, 1U, 12U));
}

TEST(text_positions, broken_text_ends_quietly) {
    EXPECT_THAT(lexeme_offsets(R"("abc\)"), ElementsAre(0U));
    EXPECT_THAT(lexeme_offsets("/* never closed"), ElementsAre());
    EXPECT_THAT(lexeme_offsets("/"), ElementsAre());
}

}  // namespace
}  // namespace weft
