#include "tools/output/svg_text.hpp"

#include <boost/algorithm/string/replace.hpp>

#include "sim/base/lists.hpp"

namespace weft {
namespace {

// In em, after DejaVu Sans, the widest of the usual fallbacks.
double character_width(char c) {
    constexpr std::string_view narrow = "iIjl.,:;|!'()[] ", wide = "mwMW%@";
    if ((static_cast<unsigned char>(c) & 0xc0U) == 0x80U) return 0;  // continues a UTF-8 character
    if (narrow.find(c) != std::string_view::npos) return 0.39;
    if (wide.find(c) != std::string_view::npos) return 0.95;
    return c >= 'A' && c <= 'Z' ? 0.72 : 0.63;
}

}  // namespace

std::string xml_escaped(std::string_view text) {
    std::string out(text);
    for (const auto& [character, entity] :
         {std::pair("&", "&amp;"), std::pair("<", "&lt;"), std::pair(">", "&gt;"), std::pair("\"", "&quot;")}) {
        boost::replace_all(out, character, entity);
    }
    return out;
}

std::string svg_head(double width, double height, std::string_view title) {
    return fmt::format(
        R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" role="img">{2}<title>{3}</title>{2})",
        width, height, '\n', xml_escaped(title));
}

double text_width(std::string_view text, double font_pixels) {
    return sum_of<double>(text, character_width) * font_pixels;
}

}  // namespace weft
