// The keys of a Hugging Face config.json, by what they mean: whatever its class calls them, wherever they stand, with
// the class's defaults.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workloads/formats/format.hpp"

namespace weft {

struct HuggingFaceFamily;  // what a configuration class says that a config.json leaves out: a row of families.json

// What families.json says of classes whose layers differ: members that their models have besides, kinds of layers, and
// where a config.json lists which layer is of which kind.
//
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

struct HuggingFaceSize {
    double value = 0;
    Origin origin;
    bool is_flag = false;  // 1 where it is set
};

// Which layers have a window, and how long it is.
struct HuggingFaceWindow {
    std::vector<bool> layers;
    HuggingFaceSize tokens;
    bool chunked = false;
    Origin origin;  // of what says which layers
};

// Lists of which layers are of a kind, and the rule that says the same: the `first` leading layers are others; of those
// after them one of each run of `every` is, or is not, of the kind.
struct LayerPattern {
    std::uint32_t first = 0;
    std::uint32_t every = 0;
};
// "first" and "every" of Experts: the first of each run has experts. Nothing: no such rule says it.
std::optional<LayerPattern> expert_pattern(const std::vector<bool>& has_experts);
// "first_full" and "full_every" of AttentionWindow: the last of each run has no window; every 0: all have.
std::optional<LayerPattern> window_pattern(const std::vector<bool>& has_window);

// JSON as Python writes it: the words Infinity and NaN, which JSON has not, become numbers of the same length.
std::string without_infinities(std::string text);

class HuggingFaceKeys;
void set_members(const HuggingFaceMembers& members, const HuggingFaceKeys& keys, Draft& to);
// The encoder of a class of this type.
void set_encoder(const HuggingFaceKeys& keys, std::string_view type, Import& import);

class HuggingFaceKeys {
  public:
    // Of the language model's object. Without a result it is of no class that weft knows, or has what weft has not:
    // errors say so.
    static std::optional<HuggingFaceKeys> find(Import& import, Field root);

    // A size by its name among the "keys" of families.json, or at a path of keys ("linear_attn_config.head_dim"): as
    // given, or the class's default.
    std::optional<HuggingFaceSize> size(std::string_view name) const;
    bool flag(std::string_view key) const;
    // The elements of a list of words or numbers, or the letters of a text, or its numbers ("3,4,5"); empty: none.
    std::vector<std::string> words(std::string_view path) const;
    const HuggingFaceLayers& layers_of_class() const;
    std::uint32_t layers() const;                      // 0: not said
    bool is_false(std::string_view key) const;         // there, and false
    bool multi_query() const;                          // MPT's word for one head of keys and values
    std::set<std::string, std::less<>> terms() const;  // of the class, where their conditions hold
    std::vector<bool> expert_layers() const;           // by layer
    HuggingFaceWindow window(const std::set<std::string, std::less<>>& terms) const;

    Origin origin_of_class(std::string_view what) const;
    Origin origin_at(std::string_view path) const;  // of the class where nothing is there
    Origin origin_of_expert_layers() const;
    void report_missing(std::string_view name) const;
    void refuse(std::string_view key, std::string_view why) const;
    void note_others() const;  // what was not asked for

  private:
    HuggingFaceKeys(Import& import, const HuggingFaceFamily& family, std::vector<Field> places, std::string type)
        : import_(&import), family_(&family), places_(std::move(places)), type_(std::move(type)) {}
    struct Place {
        Field field;
        std::string key;
    };
    std::optional<Place> place(std::string_view path) const;  // of a name, too
    std::optional<double> default_of(std::string_view name) const;
    std::optional<std::vector<bool>> listed_windows(bool& chunked) const;

    Import* import_;
    const HuggingFaceFamily* family_;
    std::vector<Field> places_;  // the language model's object, objects in it that hold sizes, the whole file
    std::string type_;
};

HuggingFaceLayers read_huggingface_layers(Field& row);

// Gives the model the members, kinds and pattern. How many layers the list has where the config.json has no count of
// them: into "layers" of the model.
void set_layers(const HuggingFaceLayers& layers, const HuggingFaceKeys& keys, Draft& model);

}  // namespace weft
