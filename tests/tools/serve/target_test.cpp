#include "tools/serve/site.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(parse_target, decodes_path_and_parameters_in_their_order) {
    const auto target = parse_target("/simulate?layout.tensor=4&model=%7B%22a%22%3A+1%7D&&empty=&flag&name=a=b");
    ASSERT_TRUE(target);
    EXPECT_EQ(target->path, "/simulate");
    EXPECT_THAT(target->parameters, ElementsAre(Pair("layout.tensor", "4"), Pair("model", "{\"a\": 1}"),
                                                Pair("empty", ""), Pair("flag", ""), Pair("name", "a=b")));
    EXPECT_THAT(parse_target("/plan")->parameters, ElementsAre());
    EXPECT_THAT(parse_target("/plan?")->parameters, ElementsAre());
}

TEST(parse_target, refuses_escapes_that_are_cut_or_wrong_and_what_is_no_text) {
    for (const char* wrong :
         {"/?a=%", "/?a=%4", "/?a=%4g", "/?a=%-1", "/%", "/?%zz=1", "/?a=%ff", "/?a=%c3", "/\xc3"}) {
        EXPECT_FALSE(parse_target(wrong)) << wrong;
    }
    EXPECT_EQ(parse_target("/?a=%c3%A4")->parameters.front().second, "\u00e4");
}

TEST(is_utf8, takes_texts_alone) {
    EXPECT_TRUE(is_utf8(""));
    EXPECT_TRUE(is_utf8("\u00e4\U0001f600"));
    EXPECT_FALSE(is_utf8("\xc0\x80"));
    EXPECT_FALSE(is_utf8("\xed\xa0\x80"));
}

}  // namespace
}  // namespace weft
