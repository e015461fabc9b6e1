// Characters, numbers in texts, and parts of them.
#pragma once

#include <algorithm>
#include <cctype>
#include <charconv>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft {

// Values by text, which is looked up without a copy.
struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
template <class Value>
using TextMap = std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The whole text as a number, in digits as C++ reads them; nothing where it is none, or none that `Number` can hold.
template <class Number>
std::optional<Number> parse_as(std::string_view text) {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

inline std::string lower_case(std::string_view text) {
    std::string lower(text);
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return lower;
}

inline std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r";
    const std::size_t begin = std::min(text.find_first_not_of(blanks), text.size());
    return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);  // npos + 1 is 0
}

// What stands before, between and behind the separators: of an empty text one empty part.
inline std::vector<std::string_view> parts_of(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(separator, begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

inline bool is_json_object(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    return begin != text.npos && text[begin] == '{';
}

// Calls `take` with every line and its number from 1, until it returns false.
template <class Take>
void each_line(std::string_view text, Take take) {
    int number = 1;
    for (std::size_t begin = 0; begin < text.size(); ++number) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        if (!take(text.substr(begin, end - begin), number)) return;
        begin = end + 1;
    }
}

// "0,4-6": the first and the last of each part.
inline std::vector<std::pair<std::string_view, std::string_view>> ranges_in(std::string_view text) {
    std::vector<std::pair<std::string_view, std::string_view>> ranges;
    for (const std::string_view part : parts_of(text, ',')) {
        const std::size_t dash = part.find('-');
        ranges.emplace_back(part.substr(0, dash), dash == part.npos ? part : part.substr(dash + 1));
    }
    return ranges;
}

}  // namespace weft
