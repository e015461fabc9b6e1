// Words of a Bash script, cut but never run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft {

// A word with its quotes, or what stands between words: ";", "\n", "&&", "|", "(", ...; "NAME=(" opens an array.
// Expanded, a word has no quotes, and unknown_part()s.
struct ShellWord {
    std::string text;
    int line = 0;
};

struct ShellText {
    std::vector<ShellWord> words;
    std::vector<ShellWord> directives;  // "#SBATCH --nodes=8" without "#SBATCH "
};

// Without comments, redirections and here-documents. Throws ConfigError where the text ends inside a word.
ShellText cut_shell_text(const std::string& file, std::string_view text);
bool is_between_words(std::string_view word);
bool is_name_character(char c);

// The place behind the escape, quotation, expansion or plain character at `at`; npos where the text ends inside it.
std::size_t shell_part_end(std::string_view text, std::size_t at);

// What an expansion that nobody can know leaves in a word: the name of the variable that would have to be given.
// `unset`: one that the script never sets; Bash would take nothing for it.
std::string unknown_part(std::string_view name, bool unset = false);
struct UnknownParts {
    std::vector<std::string> names{};  // in order
    std::string rest{};                // the word without them, as Bash takes one whose parts are all unset
    bool all_unset = true;
};
UnknownParts unknown_parts(std::string_view word);
std::vector<std::string> unknown_names(std::string_view word);
bool has_unknown(std::string_view word);
// Names the parts whose name is not known: "$(...)" assigned to a variable is that variable's.
std::string named_unknown(std::string_view word, std::string_view name);

}  // namespace weft
