// A kind of file as its readers know it: what they ask for over the shipped files and the examples of this folder,
// which hold every optional part between them, and what that means (meanings/<kind>.json).
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

    // The key of `meanings` with that of "network(dragonfly).port": this, or "network.port", or "*.port"; empty if
    // none.
    std::string key_of_meaning(const std::string& path) const;
    std::string meaning(const std::string& path) const;  // empty if there is none
    // Members of the object at `path`, in the order of their meanings.
    std::vector<std::pair<std::string, const ObjectRecord::Member*>> members(const ObjectRecord& object,
                                                                             const std::string& path) const;

  private:
    std::size_t place_of_meaning(const std::string& path) const;
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

}  // namespace weft
