// The key "recompute" of a job: a word, or an object that says which modules or layers.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/memory/recomputation.hpp"

namespace weft {

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
