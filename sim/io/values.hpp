// JSON text as a flat table of values, each with its path and its place; the raw material of Document.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/io/diagnostics.hpp"

namespace weft {

enum class ValueKind : std::uint8_t { null, flag, number, text, list, object };

// The offset of what was not written in the document but assigned by an override.
inline constexpr std::size_t overridden = std::numeric_limits<std::size_t>::max();

// What an object holds under a key, or a list at a place (then the key is empty).
struct Member {
    std::string key;
    std::size_t key_offset = overridden;
    std::size_t value = 0;  // row of the table
};

struct Value {
    ValueKind kind = ValueKind::null;
    bool flag = false;
    double number = 0.0;
    std::string text;                          // a text; of a number, its digits
    std::vector<Member> members;               // of an object or list, in document order
    std::string path;                          // "node.links[2]"; empty for the whole document
    std::size_t offset = overridden;           // of its first character
    std::set<std::string, std::less<>> asked;  // keys that a reader asked for
    bool reported =
        false;  // it is wrong or missing and has been complained about: complaints about its parts are noise

    const Member* find(std::string_view key) const;  // nullptr if there is none
};

std::string member_path(std::string_view path, std::string_view key);
std::string element_path(std::string_view path, std::size_t index);

struct ParsedValues {
    std::vector<Value> values;               // the outermost first; empty after a syntax error
    std::optional<Diagnostic> syntax_error;  // the file is left to the caller
    std::vector<Diagnostic> duplicates;      // of keys within an object
};

// Parses JSON with comments. The outermost value gets `path` and row `first_row`.
ParsedValues parse_values(std::string_view text, std::string path, std::size_t first_row);

// Compact JSON of row `row`.
std::string to_json(const std::vector<Value>& values, std::size_t row);

// A value as an error message shows it: scalars as JSON (long ones cut), "a list", "an object".
std::string shown(const Value& value);

}  // namespace weft
