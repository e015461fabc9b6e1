// A kind of file as its readers know it: what they ask for over the shipped files and the examples of this folder,
// which hold every optional part between them, and what that means (meanings/<kind>.json; of jobs and models
// workloads/keys and models/transformer/keys.json).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/io/document.hpp"
#include "sim/io/embedded.hpp"
#include "sim/io/reading_record.hpp"

namespace weft {

struct Reference {
    std::string kind;
    std::vector<std::string> changes = {};           // keys of a file that says what is other than in the one they name
    std::map<std::string, std::string> others = {};  // by path: objects that are of another kind of file
    std::vector<std::pair<std::string, std::string>> meanings = {};  // by path, or "*.source" for all keys of the name
    ValueRecord root = {};

    // The place in `meanings` of that of "network(dragonfly).port": of this, or "network.port", or "*.port"; their
    // number if there is none.
    std::size_t place_of_meaning(const std::string& path) const;
    std::string meaning(const std::string& path) const;  // empty if there is none
    // Members of the object at `path`, in the order of their meanings.
    std::vector<std::pair<std::string, const ObjectRecord::Member*>> members(const ObjectRecord& object,
                                                                             const std::string& path) const;
};

// Every key, by its path.
std::map<std::string, const ValueRecord*> every_key(const Reference& reference);

std::vector<std::string> reference_kinds();  // "device", "job", "machine", "model"
Reference make_reference(std::string_view kind);

// Reads a file of the kind with its reader. Throws ConfigError.
void read_as(std::string_view kind, Document document);
std::vector<embedded::File> files_of(std::string_view kind);  // the shipped ones that are compiled in, and the examples

// The path of a member: elements of lists are "[]", members with names of the user's choice ".*", and an object with a
// "kind" has it in parentheses.
std::string path_of_member(const std::string& path, const std::string& key);

// A JSON Schema of it, for editors and validators. Draft 7: of the later ones editors know parts only.
std::string json_schema(const Reference& reference);

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

// Its keys in words: a table of the file itself, and one of each part of it that is an object.
std::vector<KeyTable> key_tables(const Reference& reference);
// The same in Markdown, as the pages about the files have them (tools/reference).
std::string reference_markdown(const Reference& reference);

}  // namespace weft
