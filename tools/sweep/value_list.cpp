#include "tools/sweep/value_list.hpp"

#include <fmt/format.h>

#include <optional>
#include <stdexcept>

#include "tools/sweep/range.hpp"

namespace weft {
namespace {

constexpr char closing(char bracket) { return bracket == '[' ? ']' : bracket == '{' ? '}' : '\0'; }

// The offset behind the text that opens with the quotation mark at `begin`.
std::size_t end_of_text(std::string_view text, std::size_t begin) {
    for (std::size_t i = begin + 1; i < text.size(); ++i) {
        if (text[i] == '\\') {
            ++i;
        } else if (text[i] == '"') {
            return i + 1;
        }
    }
    throw std::invalid_argument(fmt::format("the \" before \"{}\" is not closed", text.substr(begin + 1)));
}

std::string_view trimmed(std::string_view text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    return text;
}

}  // namespace

std::size_t end_of_json(std::string_view text, std::size_t begin) {
    std::string open;  // brackets, the innermost last, each as what closes it
    std::size_t i = begin;
    do {
        if (i >= text.size()) {
            if (open.empty()) return begin;
            throw std::invalid_argument(
                fmt::format("\"{}\" is missing at the end of \"{}\"", open, text.substr(begin)));
        }
        const char c = text[i];
        if (c == '"') {
            i = end_of_text(text, i);
            continue;
        }
        if (closing(c) != '\0') open += closing(c);
        if (open.empty()) return begin;
        if (c == ']' || c == '}') {
            if (open.back() != c) throw std::invalid_argument(fmt::format("\"{}\" opens nowhere", c));
            open.pop_back();
        }
        ++i;
    } while (!open.empty());
    return i;
}

std::size_t end_of_value(std::string_view text, std::size_t begin) {
    std::size_t i = begin;
    while (i < text.size() && text[i] == ' ') ++i;
    i = end_of_json(text, i);
    // What follows, or a text without quotation marks, goes to the next comma outside brackets.
    while (i < text.size() && text[i] != ',') {
        if (text[i] == ']' || text[i] == '}') throw std::invalid_argument(fmt::format("\"{}\" opens nowhere", text[i]));
        const bool is_bracket = closing(text[i]) != '\0';
        i = is_bracket ? end_of_json(text, i) : i + 1;
    }
    return i;
}

std::vector<std::string_view> split_values(std::string_view text) {
    std::vector<std::string_view> values;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = end_of_value(text, begin);
        values.push_back(trimmed(text.substr(begin, end - begin)));
        if (values.back().empty()) throw std::invalid_argument(fmt::format("empty value in \"{}\"", text));
        begin = end + 1;
    }
    return values;
}

std::vector<std::string> parse_value_list(std::string_view text) {
    std::vector<std::string> values;
    for (const std::string_view value : split_values(text)) {
        if (const std::optional<std::vector<std::string>> range = parse_range(value, most_values)) {
            values.insert(values.end(), range->begin(), range->end());
        } else {
            values.emplace_back(value);
        }
        if (values.size() > most_values) {
            throw std::invalid_argument(fmt::format("more than {} values", most_values));
        }
    }
    return values;
}

}  // namespace weft
