#include "tools/page/pages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "tests/tools/program.hpp"

namespace weft {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(study_page, has_the_statements_and_the_pictures_of_its_figures) {
    std::vector<EvaluatedFigure> figures;
    for (const StudyFigure& figure : study_figures()) {
        if (figure.number == 13) figures.push_back({figure, evaluate(figure)});
    }
    ASSERT_EQ(figures.size(), 2u);
    const std::string page = study_page(figures, study_text(), "weft study --figure <13>");
    EXPECT_THAT(page, HasSubstr("weft study --figure &lt;13&gt;"));
    EXPECT_THAT(page, HasSubstr("11, 13: pipeline volume against equation 4"));
    EXPECT_THAT(page, Not(HasSubstr("10: 13B under DDP"))) << "of a figure that is not there";
    EXPECT_THAT(page, HasSubstr("explained (<a href=\"#note-d\">d</a>)"));
    EXPECT_THAT(page, HasSubstr("id=\"note-d\""));
    EXPECT_THAT(page, Not(HasSubstr("id=\"note-a\"")));
    EXPECT_THAT(page, HasSubstr("<section id=\"figure-13a\"><h2>13a: Pipeline volume: theory and framework</h2>"));
    EXPECT_THAT(page, HasSubstr("src=\"data:image/svg+xml,%3Csvg"));
    EXPECT_FALSE(std::regex_search(page, std::regex(R"re((src|href)="(?!#|data:))re"))) << "nothing from elsewhere";
    EXPECT_THAT(page, Not(HasSubstr("nan")));
}

TEST(study_page, is_written_by_the_command_alone_or_beside_the_files) {
    const test::TemporaryFolder folder;
    const test::Ran alone = test::run_weft("study --figure 9 --report page.html", folder.path());
    EXPECT_EQ(alone.exit_code, 0) << alone.err;
    EXPECT_EQ(alone.out, "page.html\n");
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "study"));
    const test::Ran both = test::run_weft("study --figure 9 --report other.html --out files", folder.path());
    EXPECT_EQ(both.out, "files/figure-09.csv\nfiles/figure-09.svg\nother.html\n");
    EXPECT_EQ(test::read_file(folder.path() / "page.html"), test::read_file(folder.path() / "other.html"));
    EXPECT_EQ(test::run_weft("study --figure 9 --report page.svg", folder.path()).exit_code, 2);
}

}  // namespace
}  // namespace weft
