// Manual pages in the man(7) language, as mandoc and groff take it.
#pragma once

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

}  // namespace weft
