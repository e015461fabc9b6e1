#include "tools/sweep/condition_tokens.hpp"

#include <fmt/format.h>

#include <array>
#include <stdexcept>

#include "sim/io/text_positions.hpp"

namespace weft {
namespace {

constexpr std::array<std::string_view, 18> signs{"<=", ">=", "==", "!=", "&&", "||", "<", ">", "=",
                                                 "!",  "+",  "-",  "*",  "/",  "%",  "(", ")", ","};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '@'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Reader {
  public:
    explicit Reader(std::string_view text) : text_(text) {}

    std::vector<Token> read() {
        while (skip_spaces()) read_one();
        add(TokenKind::end, text_.size(), "");
        return std::move(tokens_);
    }

  private:
    std::size_t column(std::size_t offset) const { return static_cast<std::size_t>(position_at(text_, offset).column); }
    void add(TokenKind kind, std::size_t begin, std::string_view text) {
        tokens_.push_back({.kind = kind, .text = std::string(text), .column = column(begin)});
    }
    bool skip_spaces() {
        while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
        return at_ < text_.size();
    }
    template <class Belongs>
    std::string_view take_while(Belongs belongs) {
        const std::size_t begin = at_;
        while (at_ < text_.size() && belongs(text_[at_])) ++at_;
        return text_.substr(begin, at_ - begin);
    }

    void read_one() {
        const std::size_t begin = at_;
        const char c = text_[at_];
        if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) {
            read_number();
            return add(TokenKind::number, begin, text_.substr(begin, at_ - begin));
        }
        if (is_letter(c)) {
            const auto belongs = [](char d) { return is_letter(d) || is_digit(d) || d == '.' || d == '[' || d == ']'; };
            return add(TokenKind::name, begin, take_while(belongs));
        }
        if (c == '"' || c == '\'') {
            const std::size_t end = text_.find(c, at_ + 1);
            if (end == std::string_view::npos) {
                throw std::invalid_argument(fmt::format("column {}: the {} is not closed", column(begin), c));
            }
            at_ = end + 1;
            return add(TokenKind::text, begin, text_.substr(begin + 1, end - begin - 1));
        }
        for (const std::string_view sign : signs) {
            if (!text_.substr(at_).starts_with(sign)) continue;
            at_ += sign.size();
            return add(TokenKind::sign, begin, sign);
        }
        throw std::invalid_argument(fmt::format("column {}: \"{}\" means nothing here", column(begin), c));
    }

    // Digits with a point and an exponent.
    void read_number() {
        const auto belongs = [](char c) { return is_digit(c) || c == '.'; };
        take_while(belongs);
        if (at_ >= text_.size() || (text_[at_] != 'e' && text_[at_] != 'E')) return;
        const std::size_t before = at_++;
        if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
        if (take_while(is_digit).empty()) at_ = before;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokens_of_condition(std::string_view text) { return Reader(text).read(); }

}  // namespace weft
