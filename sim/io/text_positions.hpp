// Where things stand in a text: the line and column of an offset, and the offsets of JSON's values and keys.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace weft {

struct TextPosition {
    int line = 1;    // from 1
    int column = 1;  // from 1, in Unicode characters
};

// `offset` past the end stands for the end.
TextPosition position_at(std::string_view text, std::size_t offset);

// Offsets at which JSON's lexemes begin, in order: keys, scalars, opening brackets; comments are skipped. Of valid JSON
// these are exactly the events of a SAX parser other than its "end" events. Any text is accepted.
std::vector<std::size_t> lexeme_offsets(std::string_view text);

}  // namespace weft
