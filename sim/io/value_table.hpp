// Builds the table of values of a document, in reading order, whatever its syntax.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/io/values.hpp"

namespace weft {

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
