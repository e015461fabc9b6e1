// Manual pages in the man(7) language, as mandoc and groff take it; and what shells complete.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

class RoffPage {
  public:
    // `name` in lower case, `purpose` in one line.
    RoffPage(std::string_view name, int section, std::string_view purpose);

    void section(std::string_view title);
    void part(std::string_view title);  // of a section
    // Paragraphs, between empty lines; lines that begin with two spaces are examples; `this` is bold.
    void text(std::string_view text);
    void lines(std::string_view text);  // as they are
    void usage(std::string_view text);  // lines, each broken where it is too long
    void item(std::string_view term, std::string_view placeholder, std::string_view text);

    const std::string& page() const { return page_; }

  private:
    void filled(std::string_view paragraph);

    std::string page_;
};

// The manual: a page of the program, one of each subcommand, and one of each kind of file, from what the program knows.
struct ManPage {
    std::string name;  // "weft-simulate"
    int section;       // 1: commands, 5: files
    std::string text;  // in the man(7) language
};

std::vector<ManPage> man_pages();

// What a shell may put at the end of a command line: commands, options, and the values that an option's or argument's
// placeholder stands for.

// `words` follow "weft"; the last one, which may be empty, is to be completed. Empty where file names may follow, or
// where nothing is known. A key that waits for its value ends in "=".
std::vector<std::string> completions(std::span<const std::string> words);

// Completion scripts of shells (tools/manual/*.completion): each asks `weft completion words` what may follow, so that
// none grows old.
std::vector<std::string> shell_names();                      // "bash", "fish", "zsh"
std::string_view completion_script(std::string_view shell);  // one of shell_names()

}  // namespace weft
