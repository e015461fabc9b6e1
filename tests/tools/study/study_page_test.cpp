// The study's page against the program: its pictures are those that `weft study` draws now.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>

#include "tests/tools/program.hpp"

namespace weft {
namespace {

const std::filesystem::path page = WEFT_SOURCE_DIR "/workloads/study";

// What the page shows, and what lies beside it.
std::set<std::string> shown() {
    const std::string text = test::read_file(page / "README.md");
    const std::regex image(R"(!\[[^\]]*\]\(([^)]+)\))");
    std::set<std::string> names;
    for (std::sregex_iterator it(text.begin(), text.end(), image), end; it != end; ++it) names.insert((*it)[1]);
    return names;
}

std::set<std::string> shipped() {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(page)) {
        if (entry.path().extension() == ".svg") names.insert(entry.path().filename());
    }
    return names;
}

TEST(study_page, shows_the_pictures_that_are_shipped) {
    EXPECT_FALSE(shown().empty());
    EXPECT_EQ(shown(), shipped());
}

// To draw them anew: weft study --out DIR, and copy the ones named here.
TEST(study_page, shows_what_the_program_draws_now) {
    const test::TemporaryFolder folder;
    const test::Ran ran = test::run_weft("study --out .", folder.path());
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    for (const std::string& name : shipped()) {
        EXPECT_TRUE(test::read_file(page / name) == test::read_file(folder.path() / name)) << name << " is out of date";
    }
}

}  // namespace
}  // namespace weft
