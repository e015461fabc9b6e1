// What readers ask of documents: which keys, what they take, what they cannot do without. Collected over documents that
// have every optional part between them, it is all that a JSON Schema says (tools/schema).
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

namespace weft {

struct ObjectRecord;

// A place of a kind of document, over all documents that were read.
struct ValueRecord {
    std::set<std::string> takes;                  // JSON Schemas of the plain values that may stand here
    std::set<std::string> defaults;               // JSON of what it is where it is left out
    std::unique_ptr<ValueRecord> element;         // of a list
    std::unique_ptr<ValueRecord> any;             // of an object whose members have names of the user's choice
    std::map<std::string, ObjectRecord> objects;  // by their "kind"; empty where they have none
};

struct ObjectRecord {
    struct Member {
        ValueRecord value;
        int required = 0;  // in how many objects it had to be
    };
    std::map<std::string, Member> members;
    int seen = 0;  // objects, but for those that are changes to others

    bool requires_member(const Member& member) const { return seen > 0 && member.required == seen; }
};

}  // namespace weft
