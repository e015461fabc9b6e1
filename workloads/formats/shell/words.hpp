// Words of a Bash script, cut and expanded but never run.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {

// A word as it is written, with its quotes, or what stands between words: ";", "\n", "&&", "|", "(", ...
struct ShellToken {
    enum class Kind : unsigned char { word, between, array } kind = Kind::word;
    std::string text;  // of an array, "NAME=" or "NAME+="
    int line = 0;
    std::vector<ShellToken> elements;  // of an array: words
};

struct ShellTokens {
    std::vector<ShellToken> tokens;
    std::vector<std::pair<std::string, int>> directives;  // "#SBATCH --nodes=8" without "#SBATCH ", and its line
};

// Throws ConfigError where the text ends inside quotes or an array. Comments, redirections and here-documents are left
// out.
ShellTokens cut_shell_text(const std::string& file, std::string_view text);

// What an expansion that nobody can know leaves in a word: the name of the variable that would have to be given.
// `unset`: one that the script never sets; Bash would take nothing for it.
std::string unknown_part(std::string_view name, bool unset);
std::vector<std::string> unknown_names(std::string_view word);  // in order
bool has_unknown(std::string_view word);
bool has_unknown_but_unset(std::string_view word);
std::string without_unset(std::string_view word);  // as Bash would take it
// Names the parts whose name is not known: "$(...)" assigned to a variable is that variable's.
std::string named_unknown(std::string_view word, std::string_view name);

// Whether `text` matches a pattern with "*" and "?".
bool matches_pattern(std::string_view text, std::string_view pattern);

}  // namespace weft
