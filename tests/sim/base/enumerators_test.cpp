// Enumerators know their names.
#include "sim/base/enumerators.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace weft {
namespace {

enum class Colour : std::uint8_t { red, dark_green = 3, blue_2 };

TEST(enumerators, have_the_names_that_they_are_written_by) {
    EXPECT_EQ(enumerator_name(Colour::red), "red");
    EXPECT_EQ(enumerator_name(Colour::dark_green), "dark_green");
    EXPECT_EQ(enumerator_name(Colour::blue_2), "blue_2");
}

TEST(enumerators, leave_values_without_one_nameless) {
    constexpr auto names = enumerator_names<Colour>();
    static_assert(names[0] == "red" && names[1].empty() && names[4] == "blue_2" && names[15].empty());
    EXPECT_EQ(enumerator_name(Colour{2}), "");
}

}  // namespace
}  // namespace weft
