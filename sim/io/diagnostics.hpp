// The user's mistakes: where, which key, what was expected. All of a run's mistakes travel in one ConfigError.
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {

// Where things stand in a text: the line and column of an offset, and the offsets of JSON's values and keys.
struct TextPosition {
    int line = 1;    // from 1
    int column = 1;  // from 1, in Unicode characters
};

// `offset` past the end stands for the end.
TextPosition position_at(std::string_view text, std::size_t offset);

// Offsets at which JSON's lexemes begin, in order: keys, scalars, opening brackets; comments are skipped. Of valid JSON
// these are exactly the events of a SAX parser other than its "end" events. Any text is accepted.
std::vector<std::size_t> lexeme_offsets(std::string_view text);

// Where a value was made from, in another tool's file.
struct Origin {
    std::string file;  // empty: a word of the command line, or nothing that was written
    int line = 0;      // from 1; 0 if unknown
    std::string key;   // as the file calls it, or words: "default of Llama"
};

struct Diagnostic {
    std::string file;     // as given by the user; "--set" for command-line overrides; empty if there is no place
    int line = 0;         // from 1; 0 if unknown
    int column = 0;       // from 1; 0 if unknown
    std::string key;      // "node.links[2]"; may be empty
    std::string message;  // "expected ..., got ..."
};

// "job.json:5:15: error: node.links[2]: expected ..."; parts that are unknown are left out.
std::string to_text(const Diagnostic& diagnostic);

class ConfigError : public std::runtime_error {
  public:
    explicit ConfigError(std::vector<Diagnostic> diagnostics);  // what(): one line each, sorted by place
    const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

  private:
    std::vector<Diagnostic> diagnostics_;
};

// Throws a ConfigError with this alone.
[[noreturn]] inline void refuse_file(std::string file, std::string message, int line = 0) {
    throw ConfigError({{.file = std::move(file), .line = line, .key = {}, .message = std::move(message)}});
}

// Does it for each of them, and throws the mistakes of all at once.
template <class Range, class Do>
void for_each_with_mistakes(const Range& range, Do act) {
    std::vector<Diagnostic> mistakes;
    for (const auto& each : range) {
        try {
            act(each);
        } catch (const ConfigError& error) {
            mistakes.insert(mistakes.end(), error.diagnostics().begin(), error.diagnostics().end());
        }
    }
    if (!mistakes.empty()) throw ConfigError(std::move(mistakes));
}

// Up to three known names that look most like `name`, best first: by edit distance (at most a third of its length, or
// 2), or because they begin with it.
std::vector<std::string> nearest(std::string_view name, std::span<const std::string> known);

// What others use for a key: "gbs" for "batch.global".
struct Synonym {
    std::string_view word;  // in small letters, with '_'; several are separated by blanks
    std::string_view key;
};

// The key that a word stands for, whatever its capitals, and with '-' for '_'; "" if none is known.
std::string_view key_meant(std::string_view word, std::span<const Synonym> synonyms);

// `, did you mean "a" or "b"?`, or "" when there are none.
std::string did_you_mean(std::span<const std::string> names);
// Of the nearest ones.
std::string suggestion(std::string_view name, std::span<const std::string> known);
// The names in a message with such an end, in their order.
std::vector<std::string> suggested_names(std::string_view message);

}  // namespace weft
