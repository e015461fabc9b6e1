#include "sim/io/document.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "sim/base/texts.hpp"
#include "sim/io/document_state.hpp"
#include "sim/io/files.hpp"
#include "sim/io/reading_record.hpp"

namespace weft {
namespace {

// Reads an override's value: JSON, a number without what JSON wants around its point (".75", "+2", "1."), or else a
// text. Throws ConfigError for duplicate keys.
std::vector<Value> read_override(std::string_view text, const std::string& path, std::size_t first_row) {
    const std::string_view digits = text.substr(text.starts_with('+') ? 1 : 0);
    const auto number = parse_as<double>(digits);
    const bool bare = number && std::isfinite(*number) && text.find_first_of("+.") != text.npos;
    ParsedValues parsed = parse_values(text, path, first_row);
    if (parsed.syntax_error && bare) parsed = parse_values(fmt::format("{}", *number), path, first_row);
    if (!parsed.duplicates.empty()) refuse_path(parsed.duplicates.front().key, "duplicate key");
    if (parsed.syntax_error) {
        parsed.values = {Value{.kind = ValueKind::text, .text = std::string(text), .path = path}};
    }
    for (Value& value : parsed.values) {
        value.offset = overridden;
        for (Member& member : value.members) member.key_offset = overridden;
    }
    return std::move(parsed.values);
}

}  // namespace

const SourceText& Document::State::text_at(std::size_t offset) const {
    const auto behind = std::ranges::upper_bound(texts, offset, {}, &SourceText::begin);
    return *std::prev(behind);
}

Origin Document::State::place_of(std::size_t offset) const {
    if (offset == overridden) return {};
    const SourceText& text = text_at(offset);
    return {.file = text.name, .line = position_at(text.text, offset - text.begin).line, .key = {}};
}

std::size_t Document::State::take(const State& other, std::string path) {
    const std::size_t first_row = values.size();
    const std::size_t begin = texts.back().begin + texts.back().text.size() + 1;  // the end of a text is a place of it
    for (const SourceText& text : other.texts) {
        texts.push_back(text);
        texts.back().begin += begin;
    }
    const auto shift = [begin](std::size_t& offset) {
        if (offset != overridden) offset += begin;
    };
    for (Value value : other.values) {
        shift(value.offset);
        for (Member& member : value.members) {
            shift(member.key_offset);
            member.value += first_row;
        }
        value.path = value.path.empty() ? path : member_path(path, value.path);
        values.push_back(std::move(value));
    }
    return first_row;
}

void Document::State::report(std::size_t offset, std::string key, std::string message) {
    if (offset == overridden) {
        errors.push_back({.file = std::string(override_name), .key = std::move(key), .message = std::move(message)});
        return;
    }
    const SourceText& text = text_at(offset);
    const TextPosition place = position_at(text.text, offset - text.begin);
    if (!text.made_from.empty()) {
        const Origin& origin = text.made_from_of(place.line);
        if (!origin.key.empty() && origin.key != key) key += " (" + origin.key + ")";
        errors.push_back(
            {origin.file.empty() ? text.name : origin.file, origin.line, 0, std::move(key), std::move(message)});
        return;
    }
    errors.push_back({text.name, place.line, place.column, std::move(key), std::move(message)});
}

const Origin& SourceText::made_from_of(int line) const {
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
    document.state_ = std::make_shared<State>(
        State{.texts = {{std::move(name), std::move(text)}}, .values = std::move(parsed.values), .errors = {}});
    return document;
}

void Document::made_from(std::vector<Origin> lines) { state_->texts.front().made_from = std::move(lines); }

void Document::assign(std::string_view assignment) {
    const std::size_t equals = assignment.find('=');
    if (equals == std::string_view::npos) {
        refuse_path(assignment, "expected KEY.PATH=VALUE, got no \"=\"");
    }
    const std::string_view path = assignment.substr(0, equals);
    std::vector<Value>& values = state_->values;
    const std::size_t row = row_at(values, 0, path);
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

std::string_view Document::name() const { return state_->texts.front().name; }

std::string Document::text() const { return to_json(state_->values, 0); }

namespace {

using Readings = std::map<std::string, KeyReading, std::less<>>;

ValueRecord& made(std::unique_ptr<ValueRecord>& record) {
    if (record == nullptr) record = std::make_unique<ValueRecord>();
    return *record;
}

void add(ValueRecord& record, const KeyReading& reading) {
    record.takes.insert(reading.takes.begin(), reading.takes.end());
    if (!reading.otherwise.empty()) record.defaults.insert(reading.otherwise);
}

}  // namespace

void Document::record() { state_->records = true; }

void Document::State::add_to(ValueRecord& record, std::size_t row, Extent extent) const {
    const Value& value = values[row];
    const auto found = readings.find(row);
    if (value.kind == ValueKind::list) {
        for (const Member& member : value.members) add_to(made(record.element), member.value, extent);
    }
    if (found == readings.end()) return;
    const Readings& asked = found->second;
    if (const auto own = asked.find(""); own != asked.end()) add(record, own->second);
    if (value.kind != ValueKind::object) return;
    const bool any = asked.contains(any_name);
    const Member* kind = asked.contains("kind") ? value.find("kind") : nullptr;
    ObjectRecord* object = any ? nullptr : &record.objects[kind == nullptr ? std::string() : values[kind->value].text];
    if (object != nullptr && extent == Extent::whole) ++object->seen;
    for (const auto& [key, reading] : asked) {
        if (key.empty() || key == any_name) continue;
        ValueRecord& inner = any ? made(record.any) : object->members[key].value;
        if (!any && extent == Extent::whole && reading.required) ++object->members[key].required;
        add(inner, reading);
        if (const Member* member = value.find(key)) add_to(inner, member->value, extent);
    }
}

void Document::add_to(ValueRecord& record, Extent extent) const { state_->add_to(record, 0, extent); }

}  // namespace weft
