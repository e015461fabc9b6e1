#include "tests/refusal.hpp"
#include "tools/sweep/grid.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <stdexcept>

namespace weft {
namespace {

using testing::HasSubstr;

const std::vector<std::string> keys{"layout.tensor", "layout.pipeline", "schedule", "sequence_parallel", "@scheme"};
const std::vector<ResultCell> point{std::int64_t{8}, std::int64_t{4}, "1f1b", true, "TP 8"};

bool holds(std::string_view text) { return Condition(text, keys).holds(point); }

std::string refusal(std::string_view text) {
    return test::refusal_of<std::invalid_argument>([&] { holds(text); });
}

TEST(sweep_condition, compares_arithmetic_over_varied_keys) {
    EXPECT_TRUE(holds("layout.tensor * layout.pipeline <= 32"));
    EXPECT_FALSE(holds("layout.tensor * layout.pipeline < 32"));
    EXPECT_TRUE(holds("layout.tensor == 2 * layout.pipeline"));
    EXPECT_TRUE(holds("layout.tensor % 3 == 2"));
    EXPECT_TRUE(holds("1 - 2 - 3 == -4"));
    EXPECT_TRUE(holds("2 + 3 * 4 == 14 and (2 + 3) * 4 == 2e1"));
    EXPECT_TRUE(holds("layout.tensor/layout.pipeline/2 == 1"));
    EXPECT_TRUE(holds("--3 == 3"));
}

TEST(sweep_condition, joins_with_and_or_not_in_that_order) {
    EXPECT_TRUE(holds("true or false and false"));
    EXPECT_FALSE(holds("(true or false) and false"));
    EXPECT_TRUE(holds("not false and true"));
    EXPECT_FALSE(holds("not (false or true)"));
    EXPECT_TRUE(holds("!false && (false || sequence_parallel)"));
    EXPECT_TRUE(holds("not layout.tensor < 8"));
}

TEST(sweep_condition, knows_texts_and_labels) {
    EXPECT_TRUE(holds("schedule == \"1f1b\" and schedule != 'gpipe'"));
    EXPECT_TRUE(holds("scheme == \"TP 8\" and @scheme == 'TP 8'"));
    EXPECT_TRUE(holds("sequence_parallel == true"));
}

TEST(sweep_condition, does_not_look_at_what_the_first_part_decides) {
    EXPECT_FALSE(holds("layout.tensor < 8 and 1 / 0 > 1"));
    EXPECT_TRUE(holds("layout.tensor == 8 or 1 / 0 > 1"));
}

TEST(sweep_condition, says_what_is_wrong) {
    EXPECT_THAT(refusal("layout.tensr <= 4"),
                HasSubstr("\"layout.tensr\" is not varied, did you mean \"layout.tensor\"?"));
    EXPECT_THAT(refusal("layout.tensor <= "), HasSubstr("incomplete"));
    EXPECT_THAT(refusal("layout.tensor <= 4)"), HasSubstr("near \")\""));
    EXPECT_THAT(refusal("layout.tensor = 4"), HasSubstr("column 15: \"=\" means nothing here"));
    EXPECT_THAT(refusal("(layout.tensor <= 4"), HasSubstr("incomplete"));
    EXPECT_THAT(refusal("1 < layout.tensor < 4"), HasSubstr("column 19: comparisons cannot be chained"));
    EXPECT_THAT(refusal("layout.tensor <= 4 # 2"), HasSubstr("column 20: \"#\" means nothing"));
    EXPECT_THAT(refusal("schedule == \"1f1b"), HasSubstr("column 13: \"\"\" means nothing here"));
    EXPECT_THAT(refusal("1..2 < 3"), HasSubstr("near \".2\""));
    EXPECT_THAT(refusal(""), HasSubstr("incomplete"));
    EXPECT_THAT(refusal("or true"), HasSubstr("near \"or\""));
    EXPECT_THAT(refusal(std::string(10'000, '(')), HasSubstr("overflow"));
}

TEST(sweep_condition, is_no_query) {
    EXPECT_THAT(refusal("(select 1) == 1"), HasSubstr("\"select\" is not varied"));
    EXPECT_THAT(refusal("random() > 1"), HasSubstr("\"random\" is not varied"));
    EXPECT_THAT(refusal("true; true"), HasSubstr("column 5: \";\" means nothing here"));
    EXPECT_TRUE(holds("1 -- 1 == 2"));
}

TEST(sweep_condition, takes_values_for_what_sqlite_does) {
    EXPECT_THAT(refusal("layout.tensor"), HasSubstr("expected something true or false, such as a comparison, got 8.0"));
    EXPECT_THAT(refusal("layout.tensor / (layout.pipeline - 4) > 1"), HasSubstr("got nothing (a division by zero?)"));
    EXPECT_THAT(refusal("-1e400"), HasSubstr("got an infinite number"));
    EXPECT_FALSE(holds("layout.tensor == \"8\""));
    EXPECT_TRUE(holds("schedule < \"gpipe\" and \"it's\" != 'its'"));
    const std::vector<ResultCell> nothing(keys.size());
    EXPECT_TRUE(Condition("layout.tensor != 8", keys).holds(nothing));
}

// A random expression and what it is worth, brackets everywhere so that no rule of precedence matters.
struct Expression {
    std::string text;
    double value = 0;
};

Expression expression(int depth) {
    if (depth == 0) {
        const int number = *rc::gen::inRange(1, 20);
        if (number == 8) return {"layout.tensor", 8};
        return {std::to_string(number), double(number)};
    }
    const Expression a = expression(depth - 1), b = expression(depth - 1);
    switch (*rc::gen::inRange(0, 4)) {
        case 0:
            return {"(" + a.text + "+" + b.text + ")", a.value + b.value};
        case 1:
            return {"(" + a.text + " - " + b.text + ")", a.value - b.value};
        case 2:
            return {"(" + a.text + "*" + b.text + ")", a.value * b.value};
        default:
            return {"-" + a.text, -a.value};
    }
}

TEST(sweep_condition, is_worth_what_its_arithmetic_says) {
    EXPECT_TRUE(rc::check([] {
        const Expression a = expression(*rc::gen::inRange(0, 5)), b = expression(*rc::gen::inRange(0, 5));
        RC_ASSERT(holds(a.text + " < " + b.text) == (a.value < b.value));
        RC_ASSERT(holds("not " + a.text + " >= " + b.text) == (a.value < b.value));
        RC_ASSERT(holds(a.text + " == " + b.text) == (a.value == b.value));
    }));
}

TEST(sweep_condition, of_any_words_is_read_or_refused) {
    EXPECT_TRUE(rc::check([] {
        const std::vector<std::string> words{"layout.tensor",
                                             "schedule",
                                             "true",
                                             "1",
                                             "0",
                                             "\"x\"",
                                             "(",
                                             ")",
                                             "+",
                                             "-",
                                             "*",
                                             "/",
                                             "%",
                                             "<",
                                             "==",
                                             "!=",
                                             "=",
                                             "and",
                                             "or",
                                             "not",
                                             "!",
                                             "&&",
                                             ".",
                                             "'",
                                             "1e",
                                             "x"};
        std::string text;
        const int count = *rc::gen::inRange(0, 12);
        for (int i = 0; i < count; ++i) text += *rc::gen::elementOf(words) + (*rc::gen::arbitrary<bool>() ? " " : "");
        try {
            holds(text);
        } catch (const std::invalid_argument& error) {
            RC_ASSERT(!std::string(error.what()).empty());
        }
    }));
}

}  // namespace
}  // namespace weft
