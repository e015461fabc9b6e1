// Words of scripts: where parts of them end, and what is not known in them.
#include "workloads/formats/shell/shell.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace weft {
namespace {

TEST(shell_words, parts_end_where_their_quotation_or_expansion_does) {
    for (const auto& [text, length] : std::vector<std::pair<std::string, std::size_t>>{
             {"ab", 1},           {"\\ab", 2},         {"\\\r\nb", 3},
             {"'a b'c", 5},       {"\"a\\\"b\"c", 6},  {"`a b`c", 5},
             {"$A_1-", 4},        {"${A:-${B}}c", 10}, {"$(a $(b))c", 9},
             {"$((1 + 2))c", 10}, {"$1a", 2},          {"$@a", 2},
             {"$ a", 1},          {"\"${A}\"b", 6},    {"$(echo ')')c", 11},
             {"${A\\}}c", 6},     {"\"$(a)\"", 6},     {"$", 1},
             {"\\", 1},           {"$?x", 2}})
        EXPECT_EQ(shell_part_end(text, 0), length) << text;
    for (const std::string text : {"'a", "\"a", "`a", "${a", "$(a", "\"${a\"", "$(a 'b)"})
        EXPECT_EQ(shell_part_end(text, 0), std::string::npos) << text;
}

TEST(shell_words, what_is_not_known_keeps_its_name) {
    const std::string word = "a" + unknown_part("N") + "b" + unknown_part("M", true);
    EXPECT_EQ(unknown_names(word), (std::vector<std::string>{"N", "M"}));
    EXPECT_TRUE(has_unknown(word));
    EXPECT_FALSE(unknown_parts(word).all_unset);
    EXPECT_EQ(unknown_parts(word).rest, "ab");
    EXPECT_TRUE(unknown_parts(unknown_part("M", true)).all_unset);
    EXPECT_TRUE(has_unknown(unknown_part("M", true)));
    EXPECT_FALSE(has_unknown("plain"));
    EXPECT_EQ(unknown_parts(unknown_part("M", true) + "x").rest, "x");
}

TEST(shell_words, what_has_no_name_takes_that_of_its_variable) {
    EXPECT_EQ(named_unknown("a" + unknown_part(""), "N"), "a" + unknown_part("N"));
    EXPECT_EQ(named_unknown(unknown_part("M"), "N"), unknown_part("M"));
    EXPECT_EQ(named_unknown("plain", "N"), "plain");
}

TEST(shell_words, separators_are_told_from_words) {
    for (const char* const between : {";", "\n", "&", "&&", "||", "|", "(", ")", ";;"})
        EXPECT_TRUE(is_between_words(between)) << between;
    for (const char* const word : {"", "a", "&&&", "a;", "A=("}) EXPECT_FALSE(is_between_words(word)) << word;
    EXPECT_TRUE(is_name_character('_') && is_name_character('9') && is_name_character('a'));
    EXPECT_FALSE(is_name_character('-') || is_name_character('$'));
}

TEST(shell_words, lines_are_counted_through_quotations_and_documents) {
    const ShellText text = cut_shell_text("s.sh", "a 'b\nc' d\ncat <<X\n1\nX\ne \\\n f # g\n#SBATCH -N 2\n");
    std::vector<std::pair<std::string, int>> found;
    for (const ShellWord& word : text.words) {
        if (!is_between_words(word.text)) found.emplace_back(word.text, word.line);
    }
    EXPECT_EQ(found, (std::vector<std::pair<std::string, int>>{
                         {"a", 1}, {"'b\nc'", 1}, {"d", 2}, {"cat", 3}, {"e", 6}, {"f", 7}}));
    ASSERT_EQ(text.directives.size(), 1U);
    EXPECT_EQ(text.directives[0].text, "-N 2");
    EXPECT_EQ(text.directives[0].line, 8);
}

}  // namespace
}  // namespace weft
