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

struct Document::State {
    std::string name;
    std::string source;         // the text, to turn offsets into places
    std::vector<Value> values;  // row 0 is the whole document; rows are only ever added
    std::vector<Diagnostic> errors;
    std::vector<Origin> made_from = {};  // of each line of the source, where it was made from other files
    bool records = false;
    std::map<std::size_t, std::map<std::string, KeyReading, std::less<>>> readings = {};  // by row

    void add_to(ValueRecord& record, std::size_t row, Extent extent) const;

    // Records an error at `offset` of the document.
    void report(std::size_t offset, std::string key, std::string message);
    // Records that `row` is not what it should be, once.
    void report_value(std::size_t row, const Expectation& expected);
};

}  // namespace weft
