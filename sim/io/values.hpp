// JSON text as a flat table of values, each with its path and its place; the raw material of Document.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
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
    std::string text{};                          // a text; of a number, its digits
    std::vector<Member> members{};               // of an object or list, in document order
    std::string path{};                          // "node.links[2]"; empty for the whole document
    std::size_t offset = overridden;             // of its first character
    std::set<std::string, std::less<>> asked{};  // keys that a reader asked for
    // It is wrong or missing and has been complained about: complaints about its parts are noise.
    bool reported = false;

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

// A text as JSON writes it. Bytes that are no UTF-8 are replaced, not refused: a trace is worth more than its labels.
std::string json_string(std::string_view text);
// Compact JSON of row `row`.
std::string to_json(const std::vector<Value>& values, std::size_t row);

// A value as an error message shows it: scalars as JSON (long ones cut), "a list", "an object".
std::string shown(const Value& value);

// Builds the table of values of a document, in reading order, whatever its syntax.
class ValueTable {
  public:
    // Of `text`, in which offsets are places. The outermost value gets `path` and row `first_row`.
    explicit ValueTable(std::string_view text, std::string path = {}, std::size_t first_row = 0);

    // The key of the value that comes next, within an object.
    void key(std::string key, std::size_t offset);
    // A value. False where nothing more is taken: it failed, or is nested too deeply or too long (`fail` says so).
    bool null(std::size_t offset);
    bool flag(bool flag, std::size_t offset);
    bool number(double number, std::string digits, std::size_t offset);  // digits: as JSON writes them
    bool text(std::string text, std::size_t offset);
    bool open(ValueKind list_or_object, std::size_t offset);
    void close();
    // A syntax error at `offset`. Always false.
    bool fail(std::size_t offset, std::string message);

    ParsedValues result() &&;

  private:
    Diagnostic at(std::size_t offset, std::string key, std::string message) const;
    bool add(Value value, std::size_t offset);
    std::string attach();

    std::string_view text_;
    std::string path_;
    std::size_t first_row_;
    // A container around the next value: its row, and where its keys first stand.
    struct Open {
        std::size_t row = 0;
        std::unordered_map<std::string, std::size_t> keys{};
    };
    std::vector<Open> open_;  // outermost first
    std::string key_;         // the last key seen
    std::size_t key_offset_ = 0;
    ParsedValues result_;
};

}  // namespace weft
