#include "sim/base/check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(check, a_broken_invariant_names_its_place_and_itself) {
    const int left = 3;
    try {
        WEFT_CHECK(left == 0, std::to_string(left) + " flows left over");
        FAIL() << "the check passed";
    } catch (const LogicError& error) {
        EXPECT_THAT(error.what(),
                    ::testing::MatchesRegex(".*check_test.cpp:[0-9]+: check failed: left == 0: 3 flows left over"));
    }
}

TEST(check, an_invariant_that_holds_costs_no_message) {
    const auto message = []() -> std::string { throw LogicError("the message was built"); };
    EXPECT_NO_THROW(WEFT_CHECK(true, message()));
}

}  // namespace
}  // namespace weft
