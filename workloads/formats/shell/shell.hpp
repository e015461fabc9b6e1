// A Bash script, cut into words and read, but never run.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/formats/format.hpp"

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

// Variables of a Bash script and what words come to with them. Nothing is run: what a command would print is unknown,
// and so is what an expansion makes that is not read here ("${NAME%/*}").
class ShellVariables {
  public:
    // "NAME=VALUE" each; the script's own assignments yield to them.
    ShellVariables(std::string file, std::span<const std::string> given);

    void assign(const std::string& name, std::vector<std::string> values, bool append = false);
    void unset(const std::string& name);
    bool is_set(std::string_view name) const { return values_.contains(name); }
    bool is_given(std::string_view name) const { return given_.contains(name); }
    const std::vector<std::string>& list(std::string_view name) const;  // empty where it is not set
    std::string value(std::string_view name) const;                     // all of it
    const auto& all() const { return values_; }

    // The words that a word comes to: none for an empty variable, several for an array or a text with spaces.
    std::vector<std::string> words(std::string_view word, int line);
    std::string text(std::string_view word, int line);  // as one word
    // A whole number, or an unknown_part().
    std::string arithmetic(std::string_view expression, int line);

  private:
    class Expansion;

    std::string file_;
    std::map<std::string, std::vector<std::string>, std::less<>> values_;
    std::set<std::string, std::less<>> given_;
    std::size_t characters_ = 0;  // that expansions came to so far
    int depth_ = 0;
};

// Conditions of a Bash script, as far as they are known without running anything.
struct ShellCondition {
    enum class Holds : std::uint8_t { no, yes, unknown } holds = Holds::unknown;
    std::string why{};  // where it is not known, the variable to be given; empty: none helps

    static ShellCondition always() { return {Holds::yes}; }
    static ShellCondition never() { return {Holds::no}; }
};

ShellCondition negated(ShellCondition of);
ShellCondition both(const ShellCondition& a, const ShellCondition& b);
ShellCondition either(const ShellCondition& a, const ShellCondition& b);

// What stands in "[ ... ]" or "[[ ... ]]", each word expanded.
ShellCondition shell_test(std::span<const std::string> words);

// What a Bash script would run, found by reading it. Conditions are followed where they are known; where they are not,
// what depends on them is unknown.
struct ShellCommand {
    std::vector<ShellWord> words;
    bool certain = true;  // not in a branch that may not be taken
};

struct ShellScript {
    std::string file;
    std::vector<ShellCommand> commands;         // but for those that only print or make folders
    std::vector<std::vector<ShellWord>> lists;  // what variables were given that begins with a flag ("--...")
    std::vector<std::string> sourced;           // files that it would read
    std::vector<ShellWord> directives;          // of Slurm
};

// `variables` stay as the script leaves them: another file may go on with them. Throws ConfigError.
ShellScript read_shell_script(const SourceFile& file, ShellVariables& variables);

}  // namespace weft
