#include "tools/study/statements.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/base/check.hpp"

namespace weft {
namespace {

TEST(study_statements, are_the_rows_of_the_table_and_the_notes_below_it) {
    const StudyText text = read_study_text(
        "# Title\n| figure | states | says | |\n|---|---|---|---|\n| 7, 14a: x | \"a\" | `b` | agrees (c) |\n\n"
        "(c) A note\nof two lines.\n\nNot of it.\n");
    ASSERT_EQ(text.statements.size(), 1u);
    EXPECT_EQ(text.statements[0].topic, "7, 14a: x");
    EXPECT_EQ(text.statements[0].stated, "\"a\"");
    EXPECT_EQ(text.statements[0].found, "`b`");
    EXPECT_EQ(text.statements[0].verdict, "agrees (c)");
    ASSERT_EQ(text.notes.size(), 1u);
    EXPECT_EQ(text.notes[0].letter, 'c');
    EXPECT_EQ(text.notes[0].text, "A note of two lines.");
    EXPECT_THROW(read_study_text("|a|\n|---|\n|b|c|\n"), LogicError);
}

TEST(study_statements, know_their_figures) {
    const StudyStatement both{.topic = "7, 14a: x", .stated = {}, .found = {}, .verdict = {}};
    const auto figure = [](std::string name, std::uint32_t number) {
        StudyFigure made{};
        made.name = std::move(name);
        made.number = number;
        return made;
    };
    EXPECT_TRUE(both.is_about(figure("figure-07", 7)));
    EXPECT_TRUE(both.is_about(figure("figure-14a", 14)));
    EXPECT_FALSE(both.is_about(figure("figure-14b", 14)));
    EXPECT_FALSE(both.is_about(figure("first-receive", 0)));
    const StudyStatement text{.topic = "V-B1: y", .stated = {}, .found = {}, .verdict = {}};
    EXPECT_TRUE(text.is_about(figure("first-receive", 0)));
    EXPECT_FALSE(text.is_about(figure("figure-07", 7)));
}

// The shipped page: every figure has a statement, every statement a figure.
TEST(study_statements, and_figures_belong_together) {
    const StudyText text = study_text();
    const std::vector<StudyFigure> figures = study_figures();
    EXPECT_GE(text.statements.size(), 15u);
    for (const StudyStatement& statement : text.statements) {
        EXPECT_TRUE(std::ranges::any_of(figures, [&](const StudyFigure& each) { return statement.is_about(each); }))
            << statement.topic;
    }
    for (const StudyFigure& figure : figures) {
        if (figure.name == "figure-14c" || figure.name == "figure-15d") continue;  // beyond the study's own lengths
        EXPECT_TRUE(std::ranges::any_of(text.statements, [&](const auto& each) { return each.is_about(figure); }))
            << figure.name;
    }
    for (char letter = 'a'; letter <= 'j'; ++letter) {
        EXPECT_EQ(std::ranges::count(text.notes, letter, &StudyNote::letter), 1) << letter;
    }
}

}  // namespace
}  // namespace weft
