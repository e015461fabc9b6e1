// A line of a file of another tool, read from left to right.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft {

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
