// What families.json says of classes whose layers differ: members that their models have besides, kinds of layers, and
// where a config.json lists which layer is of which kind.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/io/document.hpp"
#include "sim/io/draft.hpp"

namespace weft {

class HuggingFaceKeys;

// Paths of a model ("recurrence.heads"), each with a value as JSON, or with "$key" for that of a key of the
// config.json, which may be a path, too; a key that is not there, and without a default of the class, leaves it out,
// and so does a model without experts what is said of them.
using HuggingFaceMembers = std::vector<std::pair<std::string, std::string>>;

struct HuggingFaceKind {
    std::string word;  // in the list
    std::string name;  // in the model
    HuggingFaceMembers members;
};

struct HuggingFaceLayers {
    HuggingFaceMembers sets;
    // Keys that list the kinds, the first that is there: a word or number for each layer, or a text of letters; or
    // numbers of layers, counted from 1, that are of a kind (`numbered`), all others `otherwise`.
    std::vector<std::string> by;
    std::string numbered, otherwise;
    // Without such a list: the last of each run of so many layers is of the kind `numbered`.
    std::string interval;
    std::vector<HuggingFaceKind> kinds;

    bool reads(std::string_view key) const;  // whether a key, or a part of it, is asked for
};
HuggingFaceLayers read_huggingface_layers(Field& row);

// Gives the model the members, kinds and pattern. How many layers the list has where the config.json has no count of
// them: into "layers" of the model.
void set_layers(const HuggingFaceLayers& layers, const HuggingFaceKeys& keys, Draft& model);

}  // namespace weft
