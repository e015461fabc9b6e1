// The keys of a job. A row of keys/job.json says all of a key that is data: what it takes, what it means, the words of
// other programs, its place on the form of `weft serve`, what `weft explain` tries in its place; the order of rows is
// that of schema and reference. bindings.cpp says which member of Job it is. Reader, the job as JSON, schema, synonyms,
// form, knobs and exporters walk these rows. What forbids what stays with the schemes and frameworks that know why.
//
// A row that has a "default" is bound to no member: Job::further keeps its value by the path, for the rule that asks
// for it (value_of). So a key from outside is a row of <extensions>/keys/<name>.json and that rule.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/memory/memory.hpp"
#include "sim/io/document.hpp"
#include "workloads/job/job.hpp"

namespace weft {

// other: a list, an object, or a value of several forms; it has a reader of its own.
enum class KeyKind : std::uint8_t { flag, count, whole, number, duration, word, other };

// What a key is where it is left out: what its member then stands at, the same without a word of it in the schema (for
// it depends), or a mistake.
enum class Absent : std::uint8_t { as_it_stands, depends, refused };

// What numbers may be. `expected` tells it after "expected"; "{}" in it stands for what was given.
struct KeyRange {
    double least = -std::numeric_limits<double>::infinity(), most = std::numeric_limits<double>::infinity();
    std::string expected;
};

// What `weft explain` tries in place of what a job says.
struct KeyAlternatives {
    std::uint32_t place = 0;  // among those of all keys
    std::vector<std::string> values;
    bool change_numerics = false;
};

struct JobKey {
    using Read = std::function<void(Field& object, std::string_view name, Job& job)>;

    std::string path;  // "deepspeed.version"
    KeyKind kind = KeyKind::other;
    Absent absent = Absent::as_it_stands;
    std::vector<std::string> words{};
    std::vector<std::string> values{};  // what the words are in Job: enumerators, or numbers
    std::vector<KeyRange> ranges{};     // the first that is broken is told
    std::string meaning{};
    std::vector<std::string> elsewhere{};  // what other programs, and people, call it
    std::string heading{};                 // on the form; empty: among the other keys
    std::uint32_t place = 0;               // under it
    KeyAlternatives alternatives{};

    // The value as a number: 1 for a flag that is on, a word's place among its words. None where it is of several
    // forms.
    std::function<double(const Job&)> get{};
    std::function<void(Job&, double)> set{};
    std::function<void(Job&)> before{};             // sets what follows from keys that are read earlier
    Read read{};                                    // in place of the usual reader
    std::function<std::string(const Job&)> json{};  // in place of the usual writer
};

std::span<const JobKey> all_keys();           // in the order of their rows
const JobKey& key_of(std::string_view path);  // LogicError if there is none
std::span<const Synonym> job_synonyms();      // JobKey::elsewhere of all keys

// Reads the keys of an object of the job, "" or "deepspeed". Mistakes are recorded in the document.
void read_keys(Field& object, std::string_view path, Job& job);
// A word, by its place, of a key that takes one; `usual` where it is left out.
double read_word(Field& object, std::string_view name, const JobKey& key, double usual = 0);

double value_of(const Job& job, std::string_view path);
std::string json_of(const Job& job, std::string_view path);
std::string text_of(const Job& job, std::string_view path);   // as --set takes it
bool stands_as_usual(const Job& job, std::string_view path);  // as in a job that says nothing

// The key "recompute" of a job: a word, or an object that says which modules or layers.
// Megatron-core's names of what --recompute-modules takes, and what they mean.
struct RecomputeModule {
    std::string_view name;
    std::vector<LayerPart> parts;
};
std::span<const RecomputeModule> recompute_modules();

// Of all the parts that make a module, in the order of recompute_modules().
std::vector<std::string> recompute_names(const LayerParts& parts);
// In one line, for people.
std::string recompute_text(const Recomputation& recompute);

}  // namespace weft
