// The keys of a Hugging Face config.json, by what they mean: whatever its class calls them, wherever they stand, with
// the class's defaults.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/formats/format.hpp"
#include "workloads/formats/huggingface/families.hpp"

namespace weft {

struct HuggingFaceSize {
    double value = 0;
    Origin origin;
};

// Which layers have a window, and how long it is.
struct HuggingFaceWindow {
    std::vector<bool> layers;
    HuggingFaceSize tokens;
    bool chunked = false;
    Origin origin;  // of what says which layers
};

// JSON as Python writes it: the words Infinity and NaN, which JSON has not, become numbers of the same length.
std::string without_infinities(std::string text);

class HuggingFaceKeys {
  public:
    // Of the language model's object. Without a result it is of no class that weft knows, or has what weft has not:
    // errors say so.
    static std::optional<HuggingFaceKeys> find(Import& import, Field root);

    // A size by its name in huggingface_aliases, or a key: as given, or the class's default.
    std::optional<HuggingFaceSize> size(std::string_view name) const;
    bool flag(std::string_view key) const;
    bool is_false(std::string_view key) const;         // there, and false
    bool multi_query() const;                          // MPT's word for one head of keys and values
    std::set<std::string, std::less<>> terms() const;  // of the class, where their conditions hold
    std::vector<bool> expert_layers() const;           // by layer
    HuggingFaceWindow window(const std::set<std::string, std::less<>>& terms) const;

    Origin origin_of_class(std::string_view what) const;
    Origin origin_of_expert_layers() const;
    void report_missing(std::string_view name) const;
    void refuse(std::string_view key, std::string_view why) const;
    void refuse_expert_layers() const;
    void note_others() const;  // what was not asked for

  private:
    HuggingFaceKeys(Import& import, const HuggingFaceFamily& family, std::vector<Field> places, std::string type)
        : import_(&import), family_(&family), places_(std::move(places)), type_(std::move(type)) {}
    struct Place {
        Field field;
        std::string key;
    };
    std::optional<Place> place(std::string_view key) const;
    static bool is_list(const Place& place);
    std::uint32_t layers() const;
    std::optional<std::vector<bool>> listed_windows(bool& chunked) const;

    Import* import_;
    const HuggingFaceFamily* family_;
    std::vector<Field> places_;  // the language model's object, objects in it that hold sizes, the whole file
    std::string type_;
};

}  // namespace weft
