// The words of a condition. Internal to its parser.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

enum class TokenKind : std::uint8_t { number, text, name, sign, end };

struct Token {
    TokenKind kind = TokenKind::end;
    std::string text;        // of a text what stands between its quotation marks; else as written
    std::size_t column = 1;  // from 1, in characters
};

// Ends with a token of kind end. Throws std::invalid_argument: a character that means nothing, a text without its end.
std::vector<Token> tokens_of_condition(std::string_view text);

}  // namespace weft
