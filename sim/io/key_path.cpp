#include "sim/io/key_path.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <system_error>
#include <utility>

#include "sim/io/diagnostics.hpp"

namespace weft {
namespace {

[[noreturn]] void refuse_path(std::string_view key, std::string message) {
    throw ConfigError(
        {Diagnostic{.file = std::string(override_name), .key = std::string(key), .message = std::move(message)}});
}

bool ends_step(std::string_view path, std::size_t at) {
    return at == path.size() || path[at] == '.' || path[at] == '[' || path[at] == ']';
}

// The length of the first step: of the longest key of `object` that the path begins with, or up to the next mark.
std::size_t first_step(const Value& object, std::string_view path) {
    std::size_t longest = 0;
    for (const Member& member : object.members) {
        const std::string_view key = member.key;
        if (key.size() > longest && path.starts_with(key) && ends_step(path, key.size())) longest = key.size();
    }
    return longest > 0 ? longest : std::min(path.find_first_of(".[]"), path.size());
}

// Takes the first `length` characters off, and the marks up to the next step.
std::string take_step(std::string_view& path, std::size_t length) {
    const std::string step(path.substr(0, length));
    path.remove_prefix(length);
    if (path.starts_with(']')) path.remove_prefix(1);
    if (path.starts_with('.') || path.starts_with('[')) {
        path.remove_prefix(1);
        if (path.empty()) path = std::string_view(".");  // an empty step is still to come
    }
    return step;
}

std::size_t element_row(const Value& list, const std::string& step) {
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
    if (error != std::errc() || end != step.data() + step.size() || index >= list.members.size()) {
        refuse_path(list.path,
                    "has no element \"" + step + "\": it is a list of " + std::to_string(list.members.size()));
    }
    return list.members[index].value;
}

// The row of a member, added as null if the object lacks it.
std::size_t member_row(std::vector<Value>& values, std::size_t object, const std::string& key) {
    if (const Member* member = values[object].find(key)) return member->value;
    values[object].members.push_back({.key = key, .key_offset = overridden, .value = values.size()});
    Value added;
    added.path = member_path(values[object].path, key);
    added.offset = values[object].offset;  // what an assignment leaves out is missing there
    values.push_back(std::move(added));
    return values.size() - 1;
}

// A text becomes an object that extends what it names.
void extend_named(std::vector<Value>& values, std::size_t row) {
    Value name = values[row];
    Value object;
    object.kind = ValueKind::object;
    object.path = name.path;
    object.members.push_back({.key = "extends", .key_offset = name.offset, .value = values.size()});
    name.path = member_path(name.path, "extends");
    values[row] = std::move(object);
    values.push_back(std::move(name));
}

enum class Texts : bool { are_refused, are_names };

std::size_t follow(std::vector<Value>& values, std::size_t row, std::string_view path, Texts texts) {
    const std::string_view whole = path;
    while (!path.empty()) {
        if (values[row].kind == ValueKind::null) values[row].kind = ValueKind::object;
        if (texts == Texts::are_names && values[row].kind == ValueKind::text) extend_named(values, row);
        if (texts == Texts::are_names && values[row].find("extends") != nullptr) {
            return member_row(values, row, std::string(path));
        }
        const std::size_t length = first_step(values[row], path);
        if (length == 0) refuse_path(whole, "expected KEY.PATH=VALUE, got an empty key");
        const std::string step = take_step(path, length);
        const Value& value = values[row];
        if (value.kind == ValueKind::list) {
            row = element_row(value, step);
        } else if (value.kind == ValueKind::object) {
            row = member_row(values, row, step);
        } else {
            refuse_path(member_path(value.path, step), "cannot be set: " + value.path + " is " + shown(value));
        }
    }
    return row;
}

}  // namespace

std::size_t row_at(std::vector<Value>& values, std::size_t from, std::string_view path) {
    if (path.empty()) refuse_path(path, "expected KEY.PATH=VALUE, got an empty key");
    return follow(values, from, path, Texts::are_names);
}

std::size_t row_within(std::vector<Value>& values, std::size_t from, std::string_view path) {
    return follow(values, from, path, Texts::are_refused);
}

}  // namespace weft
