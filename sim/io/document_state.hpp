// What a Document and its Fields share. Internal to sim/io.
#pragma once

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

struct Document::State {
    std::string name;
    std::string source;         // the text, to turn offsets into places
    std::vector<Value> values;  // row 0 is the whole document; rows are only ever added
    std::vector<Diagnostic> errors;
    std::vector<Origin> made_from = {};  // of each line of the source, where it was made from other files

    // Records an error at `offset` of the document.
    void report(std::size_t offset, std::string key, std::string message);
    // Where a line of the source, counted from 1, was made from.
    const Origin& made_from_of(int line) const;
    // Records that `row` is not what it should be, once.
    void report_value(std::size_t row, const Expectation& expected);
};

}  // namespace weft
