// What a Document and its Fields share. Internal to sim/io.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/io/document.hpp"
#include "sim/io/values.hpp"

namespace weft {

// What a value should be, as its error message says it: "expected <what>, got ...<hint>".
struct Expectation {
    std::string what;
    std::string hint = {};
};

// By which an editor knows what a document may hold; at its root, and of no meaning to readers.
inline constexpr std::string_view schema_key = "$schema";
inline constexpr std::string_view any_name = "*";  // stands for members of an object whose names were listed

// What one reading asked of one key (or, under "", of the value itself).
struct KeyReading {
    std::set<std::string> takes;
    std::string otherwise = {};
    bool required = false, may_be_absent = false;
};

// A text that values came from. Offsets of values count through all texts of a document, one behind another.
struct SourceText {
    std::string name;
    std::string text;
    std::size_t begin = 0;               // the offset of its first character
    std::vector<Origin> made_from = {};  // of each of its lines, where it was made from other files

    const Origin& made_from_of(int line) const;  // counted from 1
};

struct Document::State {
    std::vector<SourceText> texts;  // the document's own first, then those of what its objects extend
    std::vector<Value> values;      // row 0 is the whole document; rows are only ever added
    std::vector<Diagnostic> errors;
    bool records = false;
    std::map<std::size_t, std::map<std::string, KeyReading, std::less<>>> readings = {};  // by row

    void add_to(ValueRecord& record, std::size_t row, Extent extent) const;

    const SourceText& text_at(std::size_t offset) const;  // not of what is overridden
    Origin place_of(std::size_t offset) const;            // without a key; of a text that was made, in that text
    // Takes over the values of another document; returns the row of its outermost, whose path becomes `path`.
    std::size_t take(const State& other, std::string path);  // by value: it may be a path of these

    // Records an error at `offset` of the document.
    void report(std::size_t offset, std::string key, std::string message);
    // Records that `row` is not what it should be, once.
    void report_value(std::size_t row, const Expectation& expected);
};

}  // namespace weft
