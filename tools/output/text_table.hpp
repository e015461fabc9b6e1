// An aligned table for people: numbers right, words left, two spaces between columns.
#pragma once

#include <string>
#include <vector>

namespace weft {

class TextTable {
  public:
    // A heading that starts with '<' is left-aligned (the mark is not printed); others are right-aligned.
    explicit TextTable(std::vector<std::string> headings);
    void add(std::vector<std::string> cells);  // as many as headings
    std::string text(std::size_t indent = 0) const;

  private:
    std::vector<std::string> headings_;
    std::vector<bool> left_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace weft
