#include "sim/io/values.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/base/check.hpp"

namespace weft {
namespace {

constexpr std::size_t deepest_nesting = 64;   // far beyond any sensible document; keeps recursion over it safe
constexpr std::size_t most_duplicates = 100;  // that are told: finding the line of each takes a walk over the text
// YAML's aliases can stand for more values than any text holds.
constexpr std::size_t most_values = std::size_t{1} << 20;

}  // namespace

ValueTable::ValueTable(std::string_view text, std::string path, std::size_t first_row)
    : text_(text), path_(std::move(path)), first_row_(first_row) {}

void ValueTable::key(std::string key, std::size_t offset) {
    key_ = std::move(key);
    key_offset_ = offset;
}

bool ValueTable::null(std::size_t offset) { return add({}, offset); }
bool ValueTable::flag(bool flag, std::size_t offset) { return add({.kind = ValueKind::flag, .flag = flag}, offset); }
bool ValueTable::number(double number, std::string digits, std::size_t offset) {
    return add({.kind = ValueKind::number, .number = number, .text = std::move(digits)}, offset);
}
bool ValueTable::text(std::string text, std::size_t offset) {
    return add({.kind = ValueKind::text, .text = std::move(text)}, offset);
}

bool ValueTable::open(ValueKind list_or_object, std::size_t offset) {
    if (!add({.kind = list_or_object}, offset)) return false;
    open_.push_back({.row = result_.values.size() - 1});
    return open_.size() <= deepest_nesting || fail(offset, "nested too deeply");
}

void ValueTable::close() { open_.pop_back(); }

bool ValueTable::fail(std::size_t offset, std::string message) {
    result_.values.clear();
    result_.syntax_error = at(offset, "", std::move(message));
    return false;
}

ParsedValues ValueTable::result() && { return std::move(result_); }

Diagnostic ValueTable::at(std::size_t offset, std::string key, std::string message) const {
    const TextPosition place = position_at(text_, std::min(offset, text_.size()));
    return {
        .file = {}, .line = place.line, .column = place.column, .key = std::move(key), .message = std::move(message)};
}

bool ValueTable::add(Value value, std::size_t offset) {
    if (result_.syntax_error) return false;
    if (result_.values.size() == most_values) return fail(offset, "has too many values");
    value.offset = offset;
    value.path = open_.empty() ? path_ : attach();
    result_.values.push_back(std::move(value));
    return true;
}

// Enters the value that is about to be added into the container that is open; returns its path.
std::string ValueTable::attach() {
    Value& parent = result_.values[open_.back().row];
    const std::size_t row = first_row_ + result_.values.size();
    if (parent.kind == ValueKind::list) {
        parent.members.push_back({.key = {}, .key_offset = overridden, .value = row});
        return element_path(parent.path, parent.members.size() - 1);
    }
    std::string path = member_path(parent.path, key_);
    const auto [first, is_first] = open_.back().keys.try_emplace(key_, key_offset_);
    if (!is_first && result_.duplicates.size() < most_duplicates) {
        const int line = position_at(text_, first->second).line;
        result_.duplicates.push_back(
            at(key_offset_, path, "duplicate key (first on line " + std::to_string(line) + ")"));
    }
    parent.members.push_back({.key = std::move(key_), .key_offset = key_offset_, .value = row});
    return path;
}

namespace {

using nlohmann::ordered_json;

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
class JsonEvents : public nlohmann::json_sax<ordered_json> {
  public:
    JsonEvents(std::string_view text, ValueTable& table)
        : offsets_(lexeme_offsets(text)), end_(text.size()), table_(table) {}

    bool null() override { return table_.null(take_offset()); }
    bool boolean(bool flag) override { return table_.flag(flag, take_offset()); }
    bool number_integer(number_integer_t n) override { return number(static_cast<double>(n), std::to_string(n)); }
    bool number_unsigned(number_unsigned_t n) override { return number(static_cast<double>(n), std::to_string(n)); }
    bool number_float(number_float_t n, const string_t& digits) override { return number(n, digits); }
    bool string(string_t& text) override { return table_.text(std::move(text), take_offset()); }
    bool binary(binary_t&) override { throw LogicError("JSON text has no binary values"); }
    bool start_object(std::size_t) override { return table_.open(ValueKind::object, take_offset()); }
    bool start_array(std::size_t) override { return table_.open(ValueKind::list, take_offset()); }
    bool end_object() override { return table_.close(), true; }
    bool end_array() override { return table_.close(), true; }
    bool key(string_t& key) override { return table_.key(std::move(key), take_offset()), true; }
    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override {
        return table_.fail(position == 0 ? 0 : position - 1, "invalid JSON: " + readable(error.what()));
    }

  private:
    std::size_t take_offset() { return taken_ < offsets_.size() ? offsets_[taken_++] : end_; }
    bool number(double number, std::string digits) { return table_.number(number, std::move(digits), take_offset()); }

    std::vector<std::size_t> offsets_;
    std::size_t taken_ = 0;
    std::size_t end_;
    ValueTable& table_;
};

void append_json(std::string& out, const std::vector<Value>& values, std::size_t row) {
    const Value& value = values[row];
    const bool is_object = value.kind == ValueKind::object;
    if (!is_object && value.kind != ValueKind::list) {
        out += value.kind == ValueKind::text ? json_string(value.text) : shown(value);
        return;
    }
    out += is_object ? '{' : '[';
    for (const Member& member : value.members) {
        if (&member != &value.members.front()) out += ',';
        if (is_object) out += json_string(member.key) + ":";
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
    ValueTable table(text, std::move(path), first_row);
    JsonEvents events(text, table);
    constexpr auto format = ordered_json::input_format_t::json;
    ordered_json::sax_parse(text.begin(), text.end(), &events, format, /*strict=*/true, /*ignore_comments=*/true);
    return std::move(table).result();
}

std::string json_string(std::string_view text) {
    return ordered_json(text).dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string to_json(const std::vector<Value>& values, std::size_t row) {
    std::string text;
    append_json(text, values, row);
    return text;
}

std::string shown(const Value& value) {
    if (value.kind == ValueKind::null) return "null";
    if (value.kind == ValueKind::flag) return value.flag ? "true" : "false";
    if (value.kind == ValueKind::number) return value.text;
    if (value.kind == ValueKind::text) return cut(json_string(value.text), 60);
    return value.kind == ValueKind::list ? "a list" : "an object";
}

}  // namespace weft
