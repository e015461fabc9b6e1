#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/io/diagnostics.hpp"
#include "sim/io/document.hpp"
#include "sim/io/document_state.hpp"

namespace weft {
namespace {

// "a, b, c" or `otherwise` if there is nothing to list.
std::string joined(std::span<const std::string> names, std::string_view otherwise) {
    return names.empty() ? std::string(otherwise) : fmt::format("{}", fmt::join(names, ", "));
}

// A default, as JSON; empty for one that no document could give.
std::string as_json_value(bool flag) { return flag ? "true" : "false"; }
std::string as_json_value(std::uint32_t whole) { return std::to_string(whole); }
std::string as_json_value(double number) { return std::isfinite(number) ? fmt::format("{}", number) : ""; }
std::string as_json_value(const std::string& text) { return text.empty() ? "" : "\"" + text + "\""; }
template <class Quantity>
std::string as_json_value(Quantity quantity) {
    return std::isfinite(quantity.value) && quantity.value >= 0 ? "\"" + to_text(quantity) + "\"" : "";
}

Expectation expectation(ValueKind kind) { return {kind == ValueKind::object ? "an object" : "a list"}; }

}  // namespace

std::optional<std::string> ChoiceReader::read(const Value& value) const {
    const bool known = std::find(allowed.begin(), allowed.end(), value.text) != allowed.end();
    return value.kind == ValueKind::text && known ? std::optional(value.text) : std::nullopt;
}

Expectation ChoiceReader::expected(const Value& value) const {
    return {"one of " + joined(allowed, "nothing"),
            value.kind == ValueKind::text ? suggestion(value.text, allowed) : std::string()};
}

std::string ChoiceReader::schema() const {
    std::string names;
    for (const std::string& name : allowed) names += (names.empty() ? "\"" : ", \"") + name + "\"";
    return R"({"enum": [)" + names + "]}";
}

const Value& Field::value() const { return state_->values[row_]; }

KeyReading* Field::reading(std::string_view key) const {
    return state_->records ? &state_->readings[row_][std::string(key)] : nullptr;
}

const Value* Field::find(std::string_view key) const {
    state_->values[row_].asked.emplace(key);
    reading(key);
    const Member* member = value().find(key);
    if (member == nullptr) return nullptr;
    const Value& found = state_->values[member->value];
    return found.kind == ValueKind::null ? nullptr : &found;
}

bool Field::holds(std::string_view key, ValueKind kind) const {
    const Value* found = find(key);
    return found != nullptr && found->kind == kind;
}

bool Field::expect(ValueKind kind) const {
    if (value().kind == kind) return true;
    state_->report_value(row_, expectation(kind));
    return false;
}

void Field::report_missing(std::string_view key, const std::string& expected) {
    if (!expect(ValueKind::object) || value().reported) return;
    state_->report(value().offset, member_path(value().path, key), "missing (expected " + expected + ")");
}

template <class Reader>
auto Field::read(std::size_t row, const Reader& reader) const {
    if (const auto result = reader.read(state_->values[row])) return *result;
    state_->report_value(row, reader.expected(state_->values[row]));
    return reader.harmless();
}

void Field::cannot_do_without(std::string_view key) const {
    if (KeyReading* kept = reading(key)) kept->required = kept->required || !kept->may_be_absent;
}

template <class T, class Reader>
T Field::get(std::string_view key, const Reader& reader, const std::optional<T>& otherwise) {
    if (!otherwise) cannot_do_without(key);
    if (KeyReading* kept = reading(key)) {
        kept->takes.insert(reader.schema());
        if (otherwise && !kept->may_be_absent) kept->otherwise = as_json_value(*otherwise);
        kept->may_be_absent = kept->may_be_absent || otherwise;
    }
    if (find(key) != nullptr) return read(value().find(key)->value, reader);
    if (otherwise) return expect(ValueKind::object), *otherwise;
    report_missing(key, reader.expected(Value{}).what);
    return reader.harmless();
}

bool Field::has(std::string_view key) const {
    if (KeyReading* kept = reading(key)) kept->may_be_absent = true;
    return find(key) != nullptr;
}
bool Field::is_text(std::string_view key) const { return holds(key, ValueKind::text); }
bool Field::says(std::string_view key, std::string_view text) const {
    const Value* found = find(key);
    return found != nullptr && found->kind == ValueKind::text && found->text == text;
}
bool Field::is_object(std::string_view key) const { return holds(key, ValueKind::object); }
bool Field::is_number(std::string_view key) const { return holds(key, ValueKind::number); }
bool Field::is_flag(std::string_view key) const { return holds(key, ValueKind::flag); }

Field Field::object(std::string_view key) {
    cannot_do_without(key);
    if (find(key) == nullptr) {
        report_missing(key, expectation(ValueKind::object).what);
    } else if (const Field found(state_, value().find(key)->value); found.expect(ValueKind::object)) {
        return found;
    }
    state_->values.push_back({.kind = ValueKind::object, .path = member_path(value().path, key), .reported = true});
    return {state_, state_->values.size() - 1};
}

Field Field::member(std::string_view key) {
    find(key);
    const Member* member = value().find(key);
    return member == nullptr ? object(key) : Field(state_, member->value);
}

std::vector<Field> Field::list(std::string_view key) {
    cannot_do_without(key);
    if (find(key) != nullptr) return Field(state_, value().find(key)->value).elements();
    report_missing(key, expectation(ValueKind::list).what);
    return {};
}

std::vector<Field> Field::list_if_given(std::string_view key) { return has(key) ? list(key) : std::vector<Field>(); }

std::vector<Field> Field::elements() {
    std::vector<Field> fields;
    if (!expect(ValueKind::list)) return fields;
    for (const Member& member : value().members) fields.push_back(Field(state_, member.value));
    return fields;
}

std::string Field::text(std::string_view key, std::optional<std::string_view> otherwise) {
    return get<std::string>(key, TextReader{}, otherwise ? std::optional<std::string>(*otherwise) : std::nullopt);
}
std::string Field::choice(std::string_view key, std::span<const std::string> allowed,
                          std::optional<std::string_view> otherwise) {
    return get<std::string>(key, ChoiceReader{allowed},
                            otherwise ? std::optional<std::string>(*otherwise) : std::nullopt);
}
std::uint32_t Field::count(std::string_view key, std::optional<std::uint32_t> otherwise) {
    return get(key, IntegerReader{1}, otherwise);
}
std::uint32_t Field::whole(std::string_view key, std::optional<std::uint32_t> otherwise) {
    return get(key, IntegerReader{0}, otherwise);
}
double Field::number(std::string_view key, std::optional<double> otherwise) {
    return get(key, NumberReader{}, otherwise);
}
bool Field::flag(std::string_view key, std::optional<bool> otherwise) { return get(key, FlagReader{}, otherwise); }
Bytes Field::bytes(std::string_view key, std::optional<Bytes> otherwise) { return get(key, bytes_reader, otherwise); }
BytesPerSecond Field::bandwidth(std::string_view key, std::optional<BytesPerSecond> otherwise) {
    return get(key, bandwidth_reader, otherwise);
}
Seconds Field::duration(std::string_view key, std::optional<Seconds> otherwise) {
    return get(key, duration_reader, otherwise);
}
FlopsPerSecond Field::flop_rate(std::string_view key, std::optional<FlopsPerSecond> otherwise) {
    return get(key, flop_rate_reader, otherwise);
}
Watts Field::power(std::string_view key) { return get<Watts>(key, power_reader, {}); }

template <class Reader>
auto Field::own(const Reader& reader) const {
    if (KeyReading* kept = this->reading("")) kept->takes.insert(reader.schema());
    return read(row_, reader);
}

std::uint32_t Field::as_whole() { return own(IntegerReader{0}); }
double Field::as_number() { return own(NumberReader{}); }
bool Field::as_flag() { return own(FlagReader{}); }
std::string Field::as_text() { return own(TextReader{}); }

std::vector<std::string> Field::keys() const {
    reading(any_name);
    if (!expect(ValueKind::object)) return {};
    return list_of<std::string>(value().members, &Member::key);
}

bool Field::is_asked(std::string_view key) const {
    return value().asked.contains(key) || (row_ == 0 && key == schema_key);
}

std::vector<std::string> Field::unasked() const {
    const auto is_unasked = [&](const Member& member) { return !is_asked(member.key); };
    return list_of_those<std::string>(value().members, is_unasked, &Member::key);
}

Origin Field::origin(std::string_view key) const {
    const Member* member = value().find(key);
    const std::size_t offset = member == nullptr ? value().offset : member->key_offset;
    std::string path = key.empty() ? value().path : member_path(value().path, key);
    if (offset != overridden && !state_->text_at(offset).made_from.empty()) {
        const SourceText& text = state_->text_at(offset);
        return text.made_from_of(position_at(text.text, offset - text.begin).line);
    }
    Origin origin = state_->place_of(offset);
    origin.key = std::move(path);
    return origin;
}

std::string Field::as_json() const { return to_json(state_->values, row_); }

bool Field::has_errors() const { return !state_->errors.empty(); }

std::string_view Field::document_name() const { return state_->texts.front().name; }

std::string Field::path() const { return value().path; }

void Field::error(std::string_view key, std::string message) {
    const Member* member = value().find(key);
    const bool is_there = member != nullptr && state_->values[member->value].kind != ValueKind::null;
    const Value& place = is_there ? state_->values[member->value] : value();
    if (value().reported || place.reported) return;
    state_->report(place.offset, key.empty() ? value().path : member_path(value().path, key), std::move(message));
}

void Field::done(std::initializer_list<Synonyms> synonyms) {
    if (!expect(ValueKind::object)) return;
    const std::vector<std::string> asked(value().asked.begin(), value().asked.end());
    const auto accepted = [&](const std::string& key) {
        for (const Synonyms& each : synonyms) {
            const std::string_view meant = key_meant(key, each.words);
            if (!meant.empty()) return ", did you mean \"" + member_path(each.object, meant) + "\"?";
        }
        return suggestion(key, asked) + " (this object accepts: " + joined(asked, "no keys") + ")";
    };
    for (const Member& member : value().members) {
        if (is_asked(member.key)) continue;
        state_->report(member.key_offset, member_path(value().path, member.key), "unknown key" + accepted(member.key));
    }
}

}  // namespace weft
