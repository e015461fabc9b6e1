#include "sim/io/values.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/base/check.hpp"
#include "sim/io/text_positions.hpp"

namespace weft {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t deepest_nesting = 64;  // far beyond any sensible document; keeps recursion over it safe

std::string json_text(std::string_view text) {
    return ordered_json(text).dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

// Cuts to at most `length` bytes, at the boundary of a character.
std::string cut(std::string text, std::size_t length) {
    if (text.size() <= length) return text;
    while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U) --length;
    return text.substr(0, length) + "...";
}

// "[json.exception...] parse error at line 1, column 2: syntax error while parsing value - unexpected ']'; expected
// ..."
// -> "unexpected ']'; expected ...": our own place is better, and the rest says nothing to the user.
std::string readable(std::string_view what) {
    const std::size_t dash = what.find(" - ");
    const std::size_t bracket = what.find("] ");
    if (dash != std::string_view::npos) return cut(std::string(what.substr(dash + 3)), 160);
    return cut(std::string(bracket == std::string_view::npos ? what : what.substr(bracket + 2)), 160);
}

// Builds the table from the parser's events; each but the "end" events takes the next lexeme's offset.
class TableBuilder : public nlohmann::json_sax<ordered_json> {
  public:
    TableBuilder(std::string_view text, std::string path, std::size_t first_row)
        : text_(text), offsets_(lexeme_offsets(text)), path_(std::move(path)), first_row_(first_row) {}

    ParsedValues result() && { return std::move(result_); }

    bool null() override { return add(ValueKind::null); }
    bool boolean(bool flag) override {
        return add(ValueKind::flag, [&](Value& v) { v.flag = flag; });
    }
    bool number_integer(number_integer_t n) override { return add_number(static_cast<double>(n), std::to_string(n)); }
    bool number_unsigned(number_unsigned_t n) override { return add_number(static_cast<double>(n), std::to_string(n)); }
    bool number_float(number_float_t n, const string_t& digits) override { return add_number(n, digits); }
    bool string(string_t& text) override {
        return add(ValueKind::text, [&](Value& v) { v.text = std::move(text); });
    }
    bool binary(binary_t&) override { throw LogicError("JSON text has no binary values"); }
    bool start_object(std::size_t) override { return add(ValueKind::object) && open(); }
    bool start_array(std::size_t) override { return add(ValueKind::list) && open(); }
    bool end_object() override { return open_.pop_back(), true; }
    bool end_array() override { return open_.pop_back(), true; }
    bool key(string_t& key) override {
        key_ = std::move(key);
        key_offset_ = take_offset();
        return true;
    }
    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override {
        return fail(position == 0 ? 0 : position - 1, "invalid JSON: " + readable(error.what()));
    }

  private:
    std::size_t take_offset() { return taken_ < offsets_.size() ? offsets_[taken_++] : text_.size(); }

    Diagnostic at(std::size_t offset, std::string key, std::string message) const {
        const TextPosition place = position_at(text_, std::min(offset, text_.size()));
        return {.file = {},
                .line = place.line,
                .column = place.column,
                .key = std::move(key),
                .message = std::move(message)};
    }
    bool fail(std::size_t offset, std::string message) {
        result_.values.clear();
        result_.syntax_error = at(offset, "", std::move(message));
        return false;
    }

    bool add_number(double number, std::string digits) {
        return add(ValueKind::number, [&](Value& v) { v.number = number, v.text = std::move(digits); });
    }
    template <class Fill>
    bool add(ValueKind kind, Fill fill) {
        Value value;
        value.kind = kind;
        value.offset = take_offset();
        fill(value);
        value.path = open_.empty() ? path_ : attach();
        result_.values.push_back(std::move(value));
        return true;
    }
    bool add(ValueKind kind) {
        return add(kind, [](Value&) {});
    }
    // Enters the value that is about to be added into the container that is open; returns its path.
    std::string attach() {
        Value& parent = result_.values[open_.back()];
        const std::size_t row = first_row_ + result_.values.size();
        if (parent.kind == ValueKind::list) {
            parent.members.push_back({.key = {}, .key_offset = overridden, .value = row});
            return element_path(parent.path, parent.members.size() - 1);
        }
        std::string path = member_path(parent.path, key_);
        if (const Member* first = parent.find(key_)) {
            const int line = position_at(text_, first->key_offset).line;
            result_.duplicates.push_back(
                at(key_offset_, path, "duplicate key (first on line " + std::to_string(line) + ")"));
        }
        parent.members.push_back({.key = std::move(key_), .key_offset = key_offset_, .value = row});
        return path;
    }
    bool open() {
        open_.push_back(result_.values.size() - 1);
        return open_.size() <= deepest_nesting || fail(result_.values.back().offset, "nested too deeply");
    }

    std::string_view text_;
    std::vector<std::size_t> offsets_;
    std::size_t taken_ = 0;
    std::string path_;
    std::size_t first_row_;
    std::vector<std::size_t> open_;  // containers around the next value, outermost first
    std::string key_;                // the last key seen
    std::size_t key_offset_ = 0;
    ParsedValues result_;
};

void append_json(std::string& out, const std::vector<Value>& values, std::size_t row) {
    const Value& value = values[row];
    switch (value.kind) {
        case ValueKind::null:
            out += "null";
            return;
        case ValueKind::flag:
            out += value.flag ? "true" : "false";
            return;
        case ValueKind::number:
            out += value.text;
            return;
        case ValueKind::text:
            out += json_text(value.text);
            return;
        case ValueKind::list:
        case ValueKind::object:
            break;
    }
    const bool is_object = value.kind == ValueKind::object;
    out += is_object ? '{' : '[';
    for (const Member& member : value.members) {
        if (&member != &value.members.front()) out += ',';
        if (is_object) out += json_text(member.key) + ":";
        append_json(out, values, member.value);
    }
    out += is_object ? '}' : ']';
}

}  // namespace

const Member* Value::find(std::string_view key) const {
    const auto found = std::find_if(members.begin(), members.end(), [&](const Member& m) { return m.key == key; });
    return kind == ValueKind::object && found != members.end() ? &*found : nullptr;
}

std::string member_path(std::string_view path, std::string_view key) {
    return path.empty() ? std::string(key) : std::string(path) + "." + std::string(key);
}

std::string element_path(std::string_view path, std::size_t index) {
    return std::string(path) + "[" + std::to_string(index) + "]";
}

ParsedValues parse_values(std::string_view text, std::string path, std::size_t first_row) {
    TableBuilder builder(text, std::move(path), first_row);
    constexpr auto format = ordered_json::input_format_t::json;
    ordered_json::sax_parse(text.begin(), text.end(), &builder, format, /*strict=*/true, /*ignore_comments=*/true);
    return std::move(builder).result();
}

std::string to_json(const std::vector<Value>& values, std::size_t row) {
    std::string text;
    append_json(text, values, row);
    return text;
}

std::string shown(const Value& value) {
    switch (value.kind) {
        case ValueKind::null:
            return "null";
        case ValueKind::flag:
            return value.flag ? "true" : "false";
        case ValueKind::number:
            return value.text;
        case ValueKind::text:
            return cut(json_text(value.text), 60);
        case ValueKind::list:
            return "a list";
        case ValueKind::object:
            return "an object";
    }
    throw LogicError("a value of no kind");
}

}  // namespace weft
