#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/output/svg_document.hpp"
#include "tests/tools/program.hpp"

namespace weft {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(study_command, writes_a_table_and_a_picture_per_figure) {
    const test::TemporaryFolder folder;
    const test::Ran ran = test::run_weft("study --figure 13 --figure 10 --out new/folder", folder.path());
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    for (const char* name : {"figure-10", "figure-13a", "figure-13b"}) {
        const std::string base = std::string("new/folder/") + name;
        EXPECT_THAT(ran.out, HasSubstr(base + ".csv\n" + base + ".svg\n"));
        EXPECT_THAT(test::svg_texts(test::read_file(folder.path() / (base + ".svg"))), Contains("1.3B"));
    }
    EXPECT_THAT(test::read_file(folder.path() / "new/folder/figure-10.csv"),
                HasSubstr("\nfigure-10,1.3B,DDP,,equations 2 and 3,4965087232,B,\n"));
}

TEST(study_command, lists_figures_without_writing) {
    const test::TemporaryFolder folder;
    const test::Ran ran = test::run_weft("study --list --figure 9", folder.path());
    EXPECT_EQ(ran.exit_code, 0);
    EXPECT_THAT(ran.out, HasSubstr("figure-09"));
    EXPECT_THAT(ran.out, Not(HasSubstr("figure-10")));
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(study_command, refuses_figures_that_are_none) {
    const test::Ran ran = test::run_weft("study --figure 3 --list");
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_THAT(ran.err, HasSubstr("there is no figure 3"));
}

TEST(study_command, says_the_same_twice) {
    const test::TemporaryFolder folder;
    ASSERT_EQ(test::run_weft("study --figure 15 --out a", folder.path()).exit_code, 0);
    ASSERT_EQ(test::run_weft("study --figure 15 --out b", folder.path()).exit_code, 0);
    for (const auto& entry : std::filesystem::directory_iterator(folder.path() / "a")) {
        EXPECT_EQ(test::read_file(entry.path()), test::read_file(folder.path() / "b" / entry.path().filename()));
    }
}

}  // namespace
}  // namespace weft
