#include "sim/io/value_table.hpp"

#include <algorithm>
#include <utility>

#include "sim/io/text_positions.hpp"

namespace weft {
namespace {

constexpr std::size_t deepest_nesting = 64;   // far beyond any sensible document; keeps recursion over it safe
constexpr std::size_t most_duplicates = 100;  // that are told: finding the line of each takes a walk over the text
// YAML's aliases can stand for more values than any text holds.
constexpr std::size_t most_values = std::size_t{1} << 20;

Value of_kind(ValueKind kind) {
    Value value;
    value.kind = kind;
    return value;
}

}  // namespace

ValueTable::ValueTable(std::string_view text, std::string path, std::size_t first_row)
    : text_(text), path_(std::move(path)), first_row_(first_row) {}

void ValueTable::key(std::string key, std::size_t offset) {
    key_ = std::move(key);
    key_offset_ = offset;
}

bool ValueTable::null(std::size_t offset) { return add(of_kind(ValueKind::null), offset); }
bool ValueTable::flag(bool flag, std::size_t offset) {
    Value value = of_kind(ValueKind::flag);
    value.flag = flag;
    return add(std::move(value), offset);
}
bool ValueTable::number(double number, std::string digits, std::size_t offset) {
    Value value = of_kind(ValueKind::number);
    value.number = number;
    value.text = std::move(digits);
    return add(std::move(value), offset);
}
bool ValueTable::text(std::string text, std::size_t offset) {
    Value value = of_kind(ValueKind::text);
    value.text = std::move(text);
    return add(std::move(value), offset);
}

bool ValueTable::open(ValueKind list_or_object, std::size_t offset) {
    if (!add(of_kind(list_or_object), offset)) return false;
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

}  // namespace weft
