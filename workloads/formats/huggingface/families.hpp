// What the configuration classes of Hugging Face's transformers, and of models that bring their own class, say that a
// config.json leaves out.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

struct HuggingFaceFamily {
    std::string_view types;  // values of "model_type"
    // Defaults of the class, "name=number": names of huggingface_aliases, or of the keys that terms ask for.
    std::string_view defaults;
    // What its layers are, in words (terms_of in huggingface.cpp). "key:word,word": if the key is true; "!key:...": if
    // it is false; "~key:...": if it is not there.
    std::string_view terms;

    std::optional<double> default_of(std::string_view name) const;
};

const HuggingFaceFamily* find_huggingface_family(std::string_view model_type);  // nullptr: unknown
std::vector<std::string> huggingface_types();

// The keys that say a size, which differ between classes; empty: `name` is a key itself.
std::span<const std::string_view> huggingface_aliases(std::string_view name);

}  // namespace weft
