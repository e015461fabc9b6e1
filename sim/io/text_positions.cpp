#include "sim/io/text_positions.hpp"

#include <algorithm>

namespace weft {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

bool is_separator(char c) { return std::string_view(" \t\r\n,:]}").find(c) != std::string_view::npos; }

// `at` is the opening quote; the offset behind the closing one.
std::size_t end_of_string(std::string_view text, std::size_t at) {
    for (++at; at < text.size() && text[at] != '"'; ++at) {
        if (text[at] == '\\') ++at;
    }
    return at + 1;
}

// `at` is a slash.
std::size_t end_of_comment(std::string_view text, std::size_t at) {
    const std::string_view opening = text.substr(at, 2);
    const std::string_view closing = opening == "//" ? "\n" : opening == "/*" ? "*/" : "";
    const std::size_t found = text.find(closing, at + 2);
    return closing.empty() ? at + 1 : found == std::string_view::npos ? text.size() : found + closing.size();
}

std::size_t end_of_word(std::string_view text, std::size_t at) {
    return std::min(text.find_first_of(" \t\r\n,:[]{}\"/", at), text.size());
}

}  // namespace

TextPosition position_at(std::string_view text, std::size_t offset) {
    const std::string_view before = text.substr(0, offset);
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 = 0
    std::string_view line = before.substr(line_start);
    if (line_start == 0 && line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
    const auto characters = std::count_if(line.begin(), line.end(),
                                          [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
    return {.line = static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
            .column = static_cast<int>(characters) + 1};
}

std::vector<std::size_t> lexeme_offsets(std::string_view text) {
    std::vector<std::size_t> offsets;
    std::size_t at = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
    while (at < text.size()) {
        const char c = text[at];
        if (is_separator(c)) {
            ++at;
        } else if (c == '/') {
            at = end_of_comment(text, at);
        } else {
            offsets.push_back(at);
            at = c == '"' ? end_of_string(text, at) : c == '{' || c == '[' ? at + 1 : end_of_word(text, at);
        }
    }
    return offsets;
}

}  // namespace weft
