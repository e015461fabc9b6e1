// Texts of other tools, read line by line and word by word.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/base/texts.hpp"

namespace weft {

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

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

// A line, from left to right.
class TextScanner {
  public:
    explicit TextScanner(std::string_view text) : text_(text) {}

    void skip_blanks() { text_.remove_prefix(std::min(text_.find_first_not_of(" \t"), text_.size())); }
    bool take(std::string_view word) {
        skip_blanks();
        if (!text_.starts_with(word)) return false;
        text_.remove_prefix(word.size());
        return true;
    }
    std::optional<std::uint32_t> number() {
        skip_blanks();
        std::uint32_t value = 0;
        const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
        if (error != std::errc{}) return std::nullopt;
        text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
        return value;
    }
    // Up to the next `mark`, which is taken, too.
    std::optional<std::string> until(char mark) {
        const std::size_t at = text_.find(mark);
        if (at == text_.npos) return std::nullopt;
        std::string found(text_.substr(0, at));
        text_.remove_prefix(at + 1);
        return found;
    }
    std::string word() {
        skip_blanks();
        const std::size_t end = std::min(text_.find_first_of(" \t\r"), text_.size());
        std::string found(text_.substr(0, end));
        text_.remove_prefix(end);
        return found;
    }
    // A text in double quotes, wherever it begins.
    std::optional<std::string> quoted() {
        if (!until('"')) return std::nullopt;
        return until('"');
    }
    std::string_view rest() const { return text_; }

  private:
    std::string_view text_;
};

}  // namespace weft
