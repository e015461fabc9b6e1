// Text of SVG pictures and of pages.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace weft {

// Text that grows line by line.
class MarkupText {
  public:
    template <class... Args>
    void add(fmt::format_string<Args...> format, Args&&... args) {
        fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
        text_ += '\n';
    }
    void put(std::string_view text) { text_ += text; }
    std::string take() { return std::move(text_); }

  private:
    std::string text_;
};

std::string xml_escaped(std::string_view text);  // as element text or a double-quoted attribute

// How a picture begins: its element, and what it is called for whoever cannot see it.
std::string svg_head(double width, double height, std::string_view title);

// About how wide a line is, in pixels, on the wide side of common sans-serif fonts, for layouts that must not overlap.
double text_width(std::string_view text, double font_pixels);

}  // namespace weft
