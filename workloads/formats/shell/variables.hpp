// Variables of a Bash script and what words come to with them. Nothing is run: what a command would print is unknown,
// and so is what an expansion makes that is not read here ("${NAME%/*}").
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

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

}  // namespace weft
