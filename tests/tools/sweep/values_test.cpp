#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <stdexcept>

#include "tests/refusal.hpp"
#include "tools/sweep/grid.hpp"

namespace weft {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <class Read>
std::string refusal(Read read) {
    return test::refusal_of<std::invalid_argument>(read);
}

std::string refusal(const char* values) {
    return refusal([&] { parse_value_list(values); });
}

TEST(sweep_values, are_listed_with_commas) {
    EXPECT_THAT(parse_value_list("512,1024"), ElementsAre("512", "1024"));
    EXPECT_THAT(parse_value_list("25 GB/s, 50 GB/s"), ElementsAre("25 GB/s", "50 GB/s"));
    EXPECT_THAT(parse_value_list("../a.json,b"), ElementsAre("../a.json", "b"));
}

TEST(sweep_values, of_json_keep_their_commas) {
    EXPECT_THAT(parse_value_list("[],[1,2],{\"a\": [3, 4], \"b\": \"},]\"}"),
                ElementsAre("[]", "[1,2]", "{\"a\": [3, 4], \"b\": \"},]\"}"));
    EXPECT_THAT(parse_value_list(R"("a,b","c\",d")"), ElementsAre(R"("a,b")", R"("c\",d")"));
}

TEST(sweep_values, come_in_ranges) {
    EXPECT_THAT(parse_value_list("512..4096*2"), ElementsAre("512", "1024", "2048", "4096"));
    EXPECT_THAT(parse_value_list("0..10+5"), ElementsAre("0", "5", "10"));
    EXPECT_THAT(parse_value_list("1..4"), ElementsAre("1", "2", "3", "4"));
    EXPECT_THAT(parse_value_list("10..0-4"), ElementsAre("10", "6", "2"));
    EXPECT_THAT(parse_value_list("64..8/2"), ElementsAre("64", "32", "16", "8"));
    EXPECT_THAT(parse_value_list("1..1.2+0.1"), ElementsAre("1", "1.1", "1.2"));
    EXPECT_THAT(parse_value_list("0..1e-3+5e-4"), ElementsAre("0", "0.0005", "0.001"));
    EXPECT_THAT(parse_value_list("-2..1"), ElementsAre("-2", "-1", "0", "1"));
    EXPECT_THAT(parse_value_list("1,4..8*2,x"), ElementsAre("1", "4", "8", "x"));
}

TEST(sweep_values, say_what_is_wrong_with_them) {
    EXPECT_THAT(refusal(""), HasSubstr("empty value"));
    EXPECT_THAT(refusal("1,,2"), HasSubstr("empty value"));
    EXPECT_THAT(refusal("1,"), HasSubstr("empty value"));
    EXPECT_THAT(refusal("[1,2"), HasSubstr("\"]\" is missing"));
    EXPECT_THAT(refusal("1]"), HasSubstr("\"]\" opens nowhere"));
    EXPECT_THAT(refusal("\"a,b"), HasSubstr("is not closed"));
    EXPECT_THAT(refusal("1..x"), HasSubstr("expected a number after \"..\""));
    EXPECT_THAT(refusal("1..4*"), HasSubstr("expected a number after \"*\""));
    EXPECT_THAT(refusal("1..4?2"), HasSubstr("+STEP"));
    EXPECT_THAT(refusal("1..4+1+1"), HasSubstr("one thing too many"));
    EXPECT_THAT(refusal("1..4*1"), HasSubstr("factor must be above 1"));
    EXPECT_THAT(refusal("1..4+0"), HasSubstr("step must be above 0"));
    EXPECT_THAT(refusal("0..4*2"), HasSubstr("numbers above 0"));
    EXPECT_THAT(refusal("4..1"), HasSubstr("count down"));
    EXPECT_THAT(refusal("1..4/2"), HasSubstr("count up"));
    EXPECT_THAT(refusal("1..1e9"), HasSubstr("more than 1000000 numbers"));
}

TEST(sweep_values, of_whole_ranges_are_those_of_a_loop) {
    EXPECT_TRUE(rc::check([] {
        const auto first = *rc::gen::inRange<std::int64_t>(-1000, 1000);
        const auto last = first + *rc::gen::inRange<std::int64_t>(0, 1000);
        const auto step = *rc::gen::inRange<std::int64_t>(1, 100);
        std::vector<std::string> expected;
        for (std::int64_t value = first; value <= last; value += step) expected.push_back(std::to_string(value));
        const std::string text = std::to_string(first) + ".." + std::to_string(last) + "+" + std::to_string(step);
        RC_ASSERT(parse_value_list(text) == expected);
    }));
}

TEST(sweep_values, of_any_text_are_read_or_refused) {
    EXPECT_TRUE(rc::check([] {
        const auto text = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("[]{}\"\\,.*+-/ 0129eak=@")));
        for (const auto& parse : {parse_variation, parse_zip}) {
            try {
                const Variation variation = parse(text);
                RC_ASSERT(!variation.keys.empty() && !variation.steps.empty());
                for (const auto& step : variation.steps) RC_ASSERT(step.size() == variation.keys.size());
            } catch (const std::invalid_argument& error) {
                RC_ASSERT(!std::string(error.what()).empty());
            }
        }
    }));
}

TEST(sweep_grid, is_the_product_with_the_last_variation_fastest) {
    const SweepGrid grid({parse_zip("a=1,2 b=x,y"), parse_variation("c=5,6,7")});
    ASSERT_EQ(grid.size(), 6U);
    EXPECT_THAT(grid.keys(), ElementsAre("a", "b", "c"));
    EXPECT_THAT(grid.point(0), ElementsAre("1", "x", "5"));
    EXPECT_THAT(grid.point(2), ElementsAre("1", "x", "7"));
    EXPECT_THAT(grid.point(5), ElementsAre("2", "y", "7"));
    EXPECT_THAT(grid.overrides(5), ElementsAre("a=2", "b=y", "c=7"));
}

TEST(sweep_grid, has_labels_that_are_no_keys_of_the_job) {
    const SweepGrid grid({parse_zip("@scheme=DDP,ZeRO zero=0,1")});
    EXPECT_THAT(grid.point(1), ElementsAre("ZeRO", "1"));
    EXPECT_THAT(grid.overrides(1), ElementsAre("zero=1"));
    EXPECT_EQ(column_name(grid.keys()[0]), "scheme");
}

TEST(sweep_grid, refuses_what_is_no_variation) {
    for (const char* text : {"", "key", "=1,2", "key=", "key=1,,2", "key=1,"}) {
        EXPECT_THROW(parse_variation(text), std::invalid_argument) << text;
    }
    EXPECT_THAT(refusal([] {
                    SweepGrid({parse_variation("a=1"), parse_zip("b=1 a=2")});
                }),
                HasSubstr("a is varied twice"));
    EXPECT_THAT(refusal([] {
                    SweepGrid({parse_variation("a=1..1000000"), parse_variation("b=1..1000")});
                }),
                HasSubstr("more than 10000000 points"));
}

TEST(sweep_zip, keeps_spaces_of_values_and_splits_before_the_next_key) {
    const Variation variation = parse_zip("  a=25 GB/s,50 GB/s b.c=[\"x y=1\", 2],{\"d\": 3}   e=\"p q=2\",r ");
    EXPECT_THAT(variation.keys, ElementsAre("a", "b.c", "e"));
    ASSERT_EQ(variation.steps.size(), 2U);
    EXPECT_THAT(variation.steps[0], ElementsAre("25 GB/s", "[\"x y=1\", 2]", "\"p q=2\""));
    EXPECT_THAT(variation.steps[1], ElementsAre("50 GB/s", "{\"d\": 3}", "r"));
}

TEST(sweep_zip, says_which_lengths_differ) {
    EXPECT_THAT(refusal([] { parse_zip("layout.tensor=1,2,4 layout.data=16,8"); }),
                HasSubstr("layout.tensor has 3 values but layout.data has 2"));
    EXPECT_THAT(refusal([] { parse_zip("a=1,2"); }), HasSubstr("two keys or more"));
    EXPECT_THAT(refusal([] { parse_zip("a=1,2 =3"); }), HasSubstr("=3"));
}

}  // namespace
}  // namespace weft
