// The "recompute" of a job file: a word, or an object that says which modules or layers.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/memory/recomputation.hpp"
#include "sim/io/document.hpp"

namespace weft {

// Megatron-core's names of what --recompute-modules takes, and what they mean.
struct RecomputeModule {
    std::string_view name;
    std::vector<LayerPart> parts;
};
std::span<const RecomputeModule> recompute_modules();

Recomputation read_recompute(Field& root);
nlohmann::ordered_json recompute_json(const Recomputation& recompute);
// Of all the parts that make a module, in the order of recompute_modules().
std::vector<std::string> recompute_names(const LayerParts& parts);
// In one line, for people.
std::string recompute_text(const Recomputation& recompute);

}  // namespace weft
