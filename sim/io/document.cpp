#include "sim/io/document.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/io/document_state.hpp"
#include "sim/io/text_file.hpp"
#include "sim/io/text_positions.hpp"

namespace weft {
namespace {

constexpr std::string_view override_name = "--set";

[[noreturn]] void refuse(std::string_view file, std::string_view key, std::string message) {
    throw ConfigError({Diagnostic{.file = std::string(file), .key = std::string(key), .message = std::move(message)}});
}

// The steps of "tiers[1].radix" or "tiers.1.radix".
std::vector<std::string> path_steps(std::string_view path) {
    std::vector<std::string> steps(1);
    for (const char c : path) {
        if (c == '.' || c == '[') {
            steps.emplace_back();
        } else if (c != ']') {
            steps.back() += c;
        }
    }
    return steps;
}

// Reads an override's value: JSON, or else a text. Throws ConfigError for duplicate keys.
std::vector<Value> read_override(std::string_view text, const std::string& path, std::size_t first_row) {
    ParsedValues parsed = parse_values(text, path, first_row);
    if (!parsed.duplicates.empty()) refuse(override_name, parsed.duplicates.front().key, "duplicate key");
    if (parsed.syntax_error) {
        Value value;
        value.kind = ValueKind::text;
        value.text = text;
        value.path = path;
        parsed.values = {std::move(value)};
    }
    for (Value& value : parsed.values) {
        value.offset = overridden;
        for (Member& member : value.members) member.key_offset = overridden;
    }
    return std::move(parsed.values);
}

// The row under `step` of row `parent`, added as null if an object lacks it.
std::size_t step_into(std::vector<Value>& values, std::size_t parent, const std::string& step) {
    if (values[parent].kind == ValueKind::null) values[parent].kind = ValueKind::object;
    const ValueKind kind = values[parent].kind;
    const std::string path = values[parent].path;
    if (kind == ValueKind::list) {
        std::size_t index = 0;
        const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
        if (error != std::errc() || end != step.data() + step.size() || index >= values[parent].members.size()) {
            refuse(override_name, path,
                   "has no element \"" + step + "\": it is a list of " + std::to_string(values[parent].members.size()));
        }
        return values[parent].members[index].value;
    }
    if (kind != ValueKind::object) {
        refuse(override_name, member_path(path, step), "cannot be set: " + path + " is " + shown(values[parent]));
    }
    if (const Member* member = values[parent].find(step)) return member->value;
    values[parent].members.push_back({.key = step, .key_offset = overridden, .value = values.size()});
    Value added;
    added.path = member_path(path, step);
    added.offset = values[parent].offset;  // what an assignment leaves out is missing there
    values.push_back(std::move(added));
    return values.size() - 1;
}

}  // namespace

void Document::State::report(std::size_t offset, std::string key, std::string message) {
    if (offset == overridden) {
        errors.push_back({.file = std::string(override_name), .key = std::move(key), .message = std::move(message)});
        return;
    }
    const TextPosition place = position_at(source, offset);
    if (!made_from.empty()) {
        const Origin& origin = made_from_of(place.line);
        if (!origin.key.empty() && origin.key != key) key += " (" + origin.key + ")";
        errors.push_back(
            {origin.file.empty() ? name : origin.file, origin.line, 0, std::move(key), std::move(message)});
        return;
    }
    errors.push_back({name, place.line, place.column, std::move(key), std::move(message)});
}

const Origin& Document::State::made_from_of(int line) const {
    return made_from[std::min(static_cast<std::size_t>(line), made_from.size()) - 1];
}

void Document::State::report_value(std::size_t row, const Expectation& expected) {
    Value& value = values[row];
    if (std::exchange(value.reported, true)) return;
    report(value.offset, value.path, "expected " + expected.what + ", got " + shown(value) + expected.hint);
}

Document Document::read(const std::filesystem::path& path) { return parse(path.string(), read_text(path)); }

Document Document::parse(std::string name, std::string text) {
    ParsedValues parsed = parse_values(text, "", 0);
    return of(std::move(name), std::move(text), std::move(parsed));
}

Document Document::of(std::string name, std::string text, ParsedValues parsed) {
    std::vector<Diagnostic> errors = std::move(parsed.duplicates);
    if (parsed.syntax_error) errors.push_back(std::move(*parsed.syntax_error));
    for (Diagnostic& error : errors) error.file = name;
    if (!errors.empty()) throw ConfigError(std::move(errors));
    Document document;
    document.state_ = std::make_shared<State>(State{std::move(name), std::move(text), std::move(parsed.values), {}});
    return document;
}

void Document::made_from(std::vector<Origin> lines) { state_->made_from = std::move(lines); }

void Document::assign(std::string_view assignment) {
    const std::size_t equals = assignment.find('=');
    if (equals == std::string_view::npos) {
        refuse(override_name, assignment, "expected KEY.PATH=VALUE, got no \"=\"");
    }
    const std::string_view path = assignment.substr(0, equals);
    std::vector<Value>& values = state_->values;
    std::size_t row = 0;
    for (const std::string& step : path_steps(path)) {
        if (step.empty()) refuse(override_name, path, "expected KEY.PATH=VALUE, got an empty key");
        row = step_into(values, row, step);
    }
    std::vector<Value> assigned = read_override(assignment.substr(equals + 1), values[row].path, values.size());
    // The assigned value takes the row of what it replaces; its parts follow at the end of the table.
    values.insert(values.end(), assigned.begin(), assigned.end());
    values[row] = std::move(assigned.front());
}

Document Document::copy() const {
    Document document;
    document.state_ = std::make_shared<State>(*state_);
    return document;
}

Field Document::root() { return {state_, 0}; }

void Document::check() const {
    if (has_errors()) throw ConfigError(state_->errors);
}

bool Document::has_errors() const { return !state_->errors.empty(); }

std::string_view Document::name() const { return state_->name; }

std::string Document::text() const { return to_json(state_->values, 0); }

}  // namespace weft
