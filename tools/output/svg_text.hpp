// Text inside SVG pictures.
#pragma once

#include <string>
#include <string_view>

namespace weft {

std::string xml_escaped(std::string_view text);  // as element text or a double-quoted attribute

// About how wide a line is, in pixels, on the wide side of common sans-serif fonts, for layouts that must not overlap.
double text_width(std::string_view text, double font_pixels);

}  // namespace weft
