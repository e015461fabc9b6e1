// A reference as tables of keys in words: one of the file itself, and one of each part of it that is an object.
#pragma once

#include <string>
#include <vector>

#include "tools/schema/reference.hpp"

namespace weft {

struct KeyRow {
    std::string key;        // "links.*.latency", from the table's path on
    std::string takes;      // what may stand there; plain values stand between `backticks`
    std::string otherwise;  // what holds where it is left out, or "required"; empty: it depends
    std::string meaning;
};

struct KeyTable {
    std::string path;  // empty: the file itself
    std::string kind;  // of parts that are of several kinds
    std::vector<KeyRow> rows;
};

std::vector<KeyTable> key_tables(const Reference& reference);

}  // namespace weft
