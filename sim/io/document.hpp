// A JSON document (comments allowed) read key by key. The reader is the schema: getters record what was wrong and
// return a harmless value, done() refuses keys that nobody asked for, and Document::check() throws everything at once.
//
//   Document document = Document::read(path);
//   Field tier = document.root();
//   Tier t{.kind = tier.choice("kind", {"crossbar", "fat_tree"}), .radix = tier.count("radix")};
//   tier.done();
//   document.check();
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/enumerators.hpp"
#include "sim/base/quantity.hpp"
#include "sim/io/diagnostics.hpp"

namespace weft {

class Field;
struct Value;
struct ParsedValues;
struct ValueRecord;
struct KeyReading;
enum class ValueKind : std::uint8_t;

class Document {
  public:
    // Throws ConfigError: unreadable file, invalid JSON (with its place), duplicate keys.
    static Document read(const std::filesystem::path& path);
    static Document parse(std::string name, std::string text);
    // What a parser of another syntax found in `text` (sim/io/syntaxes). Throws as parse().
    static Document of(std::string name, std::string text, ParsedValues parsed);
    // The lines of the text were made from these places, where its mistakes are told then.
    void made_from(std::vector<Origin> lines);

    // Applies "key.path=value" before reading; value is JSON, or else taken as a string. List elements by number. A
    // path through a text makes it an object that extends what the text names (sim/io/extends). Throws ConfigError if
    // the assignment has no '=' or its path runs through another value that is no object or list.
    void assign(std::string_view assignment);

    // One of its own: what is assigned to it or read from it leaves this one as it is.
    Document copy() const;

    Field root();
    void check() const;  // throws ConfigError if anything was recorded

    // What readers ask for from now on is kept, and told to `record` afterwards (sim/io/reading_record.hpp). A document
    // that is a change to another one says what it may hold, and nothing of what one must hold.
    enum class Extent : std::uint8_t { whole, change };
    void record();
    void add_to(ValueRecord& record, Extent extent) const;

    bool has_errors() const;
    std::string_view name() const;
    std::string text() const;  // the document as compact JSON with the assignments applied

  private:
    friend class Field;
    friend struct Extension;
    struct State;
    std::shared_ptr<State> state_;  // Fields point into it; never shared beyond the reading of one document
};

// Other syntaxes than JSON, read key by key all the same. They throw ConfigError with every place that is wrong: bad
// syntax, duplicate keys, more nesting or values than any sensible document has.
//
// YAML 1.2; of plain scalars, those that Python would read as a number, True, False or None are that. An alias stands
// for a copy of its anchor; "<<" merges nothing.
Document parse_yaml(std::string name, std::string text);

// TOML 1.0; dates are texts.
Document parse_toml(std::string name, std::string text);

// XML. An element is an object of its attributes, all of them texts, with its name under "#name" and the elements in it
// in the list "#elements", or the text in it under "#text" (absent if there is none). Text between elements is left
// out, entities of a document's own are not expanded.
Document parse_xml(std::string name, std::string text);

// What others call the keys of an object of a document.
struct Synonyms {
    std::string object;  // its path; empty: the document
    std::span<const Synonym> words;
};

// An object or list of the document. Cheap to copy.
class Field {
  public:
    bool has(std::string_view key) const;                          // present and not null; counts as asked for
    bool is_text(std::string_view key) const;                      // present and a string
    bool says(std::string_view key, std::string_view text) const;  // that string
    bool is_object(std::string_view key) const;
    bool is_number(std::string_view key) const;
    bool is_flag(std::string_view key) const;

    // Members. Errors (missing, wrong type, out of range) are recorded and a harmless value returned.
    Field object(std::string_view key);                      // an empty object if missing
    Field member(std::string_view key);                      // of any kind, or null; an empty object if missing
    std::vector<Field> list(std::string_view key);           // of objects or values
    std::vector<Field> list_if_given(std::string_view key);  // or an empty one
    // With `otherwise` they may be absent (or null), and are that then.
    std::string text(std::string_view key, std::optional<std::string_view> otherwise = {});
    std::string choice(std::string_view key, std::span<const std::string> allowed,
                       std::optional<std::string_view> otherwise = {});
    std::string choice(std::string_view key, std::initializer_list<std::string> allowed,
                       std::optional<std::string_view> otherwise = {}) {
        return choice(key, std::span(allowed.begin(), allowed.size()), otherwise);
    }
    // One of the enumerators, by its name.
    template <class Enum>
    Enum enumerator(std::string_view key, Enum otherwise) {
        constexpr auto names = enumerator_names<Enum>();
        const std::vector<std::string> known(names.begin(), std::find(names.begin(), names.end(), ""));
        const std::string name = choice(key, known, enumerator_name(otherwise));
        return *enumerator_called<Enum>(name);
    }
    std::uint32_t count(std::string_view key,
                        std::optional<std::uint32_t> otherwise = {});  // >= 1 (1e3 and 1000.0, too)
    std::uint32_t whole(std::string_view key, std::optional<std::uint32_t> otherwise = {});  // integer >= 0
    double number(std::string_view key, std::optional<double> otherwise = {});               // finite
    bool flag(std::string_view key, std::optional<bool> otherwise = {});
    Bytes bytes(std::string_view key, std::optional<Bytes> otherwise = {});                        // "64 GiB", "512 B"
    BytesPerSecond bandwidth(std::string_view key, std::optional<BytesPerSecond> otherwise = {});  // "200 Gbit/s"
    Seconds duration(std::string_view key, std::optional<Seconds> otherwise = {});                 // "2.4 us"
    FlopsPerSecond flop_rate(std::string_view key, std::optional<FlopsPerSecond> otherwise = {});  // "191.5 TFLOP/s"
    Watts power(std::string_view key);                                                             // "700 W"

    std::uint32_t as_whole();  // this field itself, as an element of a list
    double as_number();
    bool as_flag();
    std::string as_text();
    std::vector<Field> elements();  // this field itself, as a list
    std::string as_json() const;    // this field itself, whatever it is, as compact JSON

    std::vector<std::string> keys() const;      // of an object, in document order
    std::vector<std::string> unasked() const;   // those of them that no getter asked for
    Origin origin(std::string_view key) const;  // where the member stands; of this object itself if there is none
    std::string path() const;                   // "node.links[2]"
    bool has_errors() const;                    // of the whole document
    std::string_view document_name() const;

    // Records an error of meaning at `key` of this object (at the object itself if key is empty or absent).
    void error(std::string_view key, std::string message);
    template <class First, class... Rest>
    void error(std::string_view key, fmt::format_string<First, Rest...> message, First&& first, Rest&&... rest) {
        error(key, fmt::format(message, std::forward<First>(first), std::forward<Rest>(rest)...));
    }
    template <class... Args>
    void error_if(bool wrong, std::string_view key, fmt::format_string<Args...> message, Args&&... args) {
        if (wrong) error(key, fmt::format(message, std::forward<Args>(args)...));
    }
    // Every key that no getter asked for is an error, with the nearest of the keys that were. Words of `synonyms` are
    // answered with the path of the key that they stand for.
    void done(std::initializer_list<Synonyms> synonyms = {});

  private:
    friend class Document;
    friend struct Extension;
    Field(std::shared_ptr<Document::State> state, std::size_t row) : state_(std::move(state)), row_(row) {}

    const Value& value() const;
    const Value* find(std::string_view key) const;    // marks the key as asked for; nullptr if absent or null
    KeyReading* reading(std::string_view key) const;  // where what is asked of it is kept, or null
    bool is_asked(std::string_view key) const;
    void cannot_do_without(std::string_view key) const;
    bool holds(std::string_view key, ValueKind kind) const;
    bool expect(ValueKind kind) const;  // records an error, once, if this field is of another kind
    void report_missing(std::string_view key, const std::string& expected);
    // `Reader` says how a T is read from a value, what to expect, and what to return when that fails (field.cpp).
    template <class Reader>
    auto read(std::size_t row, const Reader& reader) const;
    template <class T, class Reader>
    T get(std::string_view key, const Reader& reader, const std::optional<T>& otherwise);
    template <class Reader>
    auto own(const Reader& reader) const;

    std::shared_ptr<Document::State> state_;
    std::size_t row_;  // of the state's table of values
};

// Records them at the key that leads to the file, each with its own place if it has one.
inline void error_at(Field& field, std::string_view key, const ConfigError& error) {
    for (const Diagnostic& inner : error.diagnostics()) {
        field.error(key, inner.line > 0 ? to_text(inner) : inner.message);
    }
}

// { "value": ..., "source": "..." } at `key`: what `reader(field)` makes of it, which reads "value".
template <class Reader>
auto sourced(Field& parent, std::string_view key, Reader reader) {
    Field field = parent.object(key);
    auto value = reader(field);
    field.text("source", "");
    field.done();
    return value;
}
inline Seconds sourced_duration(Field& parent, std::string_view key) {
    return sourced(parent, key, [](Field& field) { return field.duration("value"); });
}

}  // namespace weft
