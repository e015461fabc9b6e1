// Taking keys of a foreign file over, so that each is used, known to have no effect, or noted; and keys of other
// programs as data: workloads/formats/<program>/<program>_keys.json.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/texts.hpp"
#include "sim/io/document.hpp"
#include "workloads/formats/format.hpp"

namespace weft {

// Texts of other tools, read line by line and word by word.

// A line, from left to right.
class TextScanner {
  public:
    explicit TextScanner(std::string_view text) : text_(text) {}

    void skip_blanks() { text_.remove_prefix(std::min(text_.find_first_not_of(" \t"), text_.size())); }
    bool take(std::string_view word) {
        skip_blanks();
        if (!text_.starts_with(word)) return false;
        text_.remove_prefix(word.size());
        return true;
    }
    std::optional<std::uint32_t> number() {
        skip_blanks();
        std::uint32_t value = 0;
        const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
        if (error != std::errc{}) return std::nullopt;
        text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
        return value;
    }
    // Up to the next `mark`, which is taken, too.
    std::optional<std::string> until(char mark) {
        const std::size_t at = text_.find(mark);
        if (at == text_.npos) return std::nullopt;
        std::string found(text_.substr(0, at));
        text_.remove_prefix(at + 1);
        return found;
    }
    std::string word() {
        skip_blanks();
        const std::size_t end = std::min(text_.find_first_of(" \t\r"), text_.size());
        std::string found(text_.substr(0, end));
        text_.remove_prefix(end);
        return found;
    }
    // A text in double quotes, wherever it begins.
    std::optional<std::string> quoted() {
        if (!until('"')) return std::nullopt;
        return until('"');
    }
    std::string_view rest() const { return text_; }

  private:
    std::string_view text_;
};

// Keys, each with what the file says of it; of a list nothing.
struct KnownKeys {
    std::vector<std::pair<std::string, std::string>> in_order;
    std::map<std::string, std::string, std::less<>> by_name;

    bool contains(std::string_view key) const { return by_name.contains(key); }
};

const KnownKeys& known_keys(std::string_view program, std::string_view section);

// Whether a key is left out, or switched off: null, false, 0, "", "none", [] and {}.
bool says_nothing(Field object, std::string_view key);

// Every key that nobody asked for is noted: it may change what a step does.
void note_rest(Import& import, const Field& from);

// An object of a foreign file whose keys are taken over into what is made.
struct ForeignKeys {
    Import& import;
    Field keys;
    const FormatOptions& options;

    bool has(std::string_view key) const { return keys.has(key); }
    bool on(std::string_view key) { return keys.is_flag(key) && keys.flag(key); }  // there, and set
    Origin origin(std::string_view key) const { return keys.origin(key); }
    ForeignKeys object(std::string_view key) { return {import, keys.object(key), options}; }

    // Gives the member at a path of what is made ("batch.micro") a value because of a key.
    void put(std::string_view path, const auto& value, std::string_view key) { import.put(path, value, origin(key)); }
    // The key's own value, if it is there; whether it is.
    bool take_count(std::string_view key, std::string_view path);  // integer >= 1
    bool take_flag(std::string_view key, std::string_view path);

    // Of a key that is there: it changes what a step does, and weft cannot represent it, so that nothing is made.
    void refuse(std::string_view key, std::string why);
    // It is read, and changes something that is not simulated.
    void warn(std::string_view key, std::string what);
    // Each key that is there and says something: refused or warned of with what the table says of it.
    void refuse(const KnownKeys& why) { tell(why, FormatNote::Severity::error); }
    void warn(const KnownKeys& what) { tell(what, FormatNote::Severity::warning); }
    void tell(const KnownKeys& messages, FormatNote::Severity severity);
    // Those of the keys that are there change neither time nor memory.
    void pass_over(const KnownKeys& known);
    void pass_over_unread(const KnownKeys& known);  // those that nothing has asked for so far
    void note_rest() { weft::note_rest(import, keys); }
};

// "layer_pattern" of a model: its layers by name, as the shortest run that they repeat, cut where they end.
void set_pattern(const std::vector<std::string>& names, const Origin& origin, Draft& model);

// Copies a member of an object, and of objects in it: with where each value stands, or all from one place.
void copy_member(Field& from, std::string_view key, Draft& to, const std::string& name, const Origin* place = nullptr);

// A table of one of these rooms: workloads/formats/*/<name>.json.
Document format_table(std::string_view name);
std::vector<std::string> texts(std::vector<Field> list);

// The document's mistakes become notes of the import, told together with what it refuses.
void take_mistakes(Import& import, const Document& document);

// Ranks of the job that the options name, machine and nodes; 0 where they do not.
std::uint64_t ranks_of(const FormatOptions& options);
// Whether the user overrides this key of what is made ("batch.micro").
double number_said(const FormatOptions& options, std::string_view path);  // 0: none
bool overridden_by_user(const FormatOptions& options, std::string_view path);

}  // namespace weft
