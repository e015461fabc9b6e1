#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/io/diagnostics.hpp"

namespace weft {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<std::string> keys = {"data", "order", "pipeline", "tensor", "zero"};

TEST(nearest, one_slip_of_each_kind_is_recognised) {
    EXPECT_THAT(nearest("pipelin", keys), ElementsAre("pipeline"));
    EXPECT_THAT(nearest("pipelinee", keys), ElementsAre("pipeline"));
    EXPECT_THAT(nearest("pipeltne", keys), ElementsAre("pipeline"));
    EXPECT_THAT(nearest("tesnor", keys), ElementsAre("tensor"));
}

TEST(nearest, names_that_nobody_types_are_not_compared) {
    const std::string name(50'000'000, 'x');
    EXPECT_THAT(nearest(name, std::vector<std::string>{name + "y", "data"}), IsEmpty());
}

TEST(nearest, a_beginning_of_three_letters_is_enough) {
    EXPECT_THAT(nearest("pip", keys), ElementsAre("pipeline"));
    EXPECT_THAT(nearest("pi", keys), IsEmpty());
}

TEST(nearest, what_looks_like_nothing_known_gets_no_suggestion) {
    EXPECT_THAT(nearest("schedule", keys), IsEmpty());
    EXPECT_THAT(nearest("", keys), IsEmpty());
    EXPECT_THAT(nearest("xy", std::vector<std::string>{"ab"}), IsEmpty()) << "two letters, none of them the same";
    EXPECT_EQ(suggestion("schedule", keys), "");
}

TEST(nearest, at_most_three_are_named_the_best_first) {
    const std::vector<std::string> many = {"gpt-3", "gpt-22", "gpt-2", "gpt-1", "gpt-4"};
    EXPECT_THAT(nearest("gpt-2", many), ElementsAre("gpt-2", "gpt-3", "gpt-22"));
    EXPECT_EQ(suggestion("gpt-2x", std::vector<std::string>{"gpt-2", "gpt-22"}),
              ", did you mean \"gpt-2\" or \"gpt-22\"?");
}

}  // namespace
}  // namespace weft
