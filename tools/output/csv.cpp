#include "tools/output/csv.hpp"

#include <charconv>
#include <system_error>

namespace weft {

static bool is_formula(std::string_view text) {
    if (text.size() < 2 || std::string_view("=+-@\t\r").find(text.front()) == std::string_view::npos) return false;
    double number = 0.0;
    const char* const begin = text.data() + (text.front() == '+' ? 1 : 0);
    const auto [end, error] = std::from_chars(begin, text.data() + text.size(), number);
    return error == std::errc::invalid_argument || end != text.data() + text.size();
}

std::string csv_cell(std::string_view text) {
    const std::string safe = (is_formula(text) ? "'" : "") + std::string(text);
    if (safe.find_first_of(",\"\r\n") == std::string::npos) return safe;
    std::string out = "\"";
    for (const char c : safe) {
        if (c == '"') out += '"';
        out += c;
    }
    return out + '"';
}

}  // namespace weft
