#include "sim/io/diagnostics.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(diagnostics, parts_that_are_unknown_are_left_out) {
    EXPECT_EQ(to_text(Diagnostic{"job.json", 5, 15, "layout.tensor", "expected x"}),
              "job.json:5:15: error: layout.tensor: expected x");
    EXPECT_EQ(to_text(Diagnostic{"--set", 0, 0, "a", "expected x"}), "--set: error: a: expected x");
    EXPECT_EQ(to_text(Diagnostic{"", 0, 0, "", "no machine"}), "error: no machine");
}

TEST(diagnostics, lines_are_ordered_by_place_as_numbers_and_not_repeated) {
    const ConfigError error({{"b", 1, 1, "", "w"},
                             {"a", 10, 1, "", "x"},
                             {"a", 9, 20, "", "y"},
                             {"a", 9, 3, "", "z"},
                             {"a", 9, 3, "", "z"}});
    EXPECT_STREQ(error.what(), "a:9:3: error: z\na:9:20: error: y\na:10:1: error: x\nb:1:1: error: w");
    EXPECT_EQ(error.diagnostics().size(), 4U);
}

}  // namespace
}  // namespace weft
