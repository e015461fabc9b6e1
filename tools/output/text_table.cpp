#include "tools/output/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/check.hpp"

namespace weft {

TextTable::TextTable(std::vector<std::string> headings) : headings_(std::move(headings)) {
    for (std::string& heading : headings_) {
        left_.push_back(heading.starts_with('<'));
        if (left_.back()) heading.erase(0, 1);
    }
}

void TextTable::add(std::vector<std::string> cells) {
    WEFT_CHECK(cells.size() == headings_.size(), "a row has one cell per heading");
    rows_.push_back(std::move(cells));
}

std::string TextTable::text(std::size_t indent) const {
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < headings_.size(); ++c) {
        std::size_t width = headings_[c].size();
        for (const auto& row : rows_) width = std::max(width, row[c].size());
        widths.push_back(width);
    }
    std::string out;
    const auto line = [&](const std::vector<std::string>& cells) {
        std::string text(indent, ' ');
        for (std::size_t c = 0; c < cells.size(); ++c) {
            if (c > 0) text += "  ";
            text += left_[c] ? fmt::format("{:<{}}", cells[c], widths[c]) : fmt::format("{:>{}}", cells[c], widths[c]);
        }
        text.erase(text.find_last_not_of(' ') + 1);
        out += text + '\n';
    };
    line(headings_);
    for (const auto& row : rows_) line(row);
    return out;
}

}  // namespace weft
