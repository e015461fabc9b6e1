// A model as one line names it: with its parameters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "models/transformer/transformer.hpp"

namespace weft {

// "llama3-8b (8.03B parameters)", "mixtral-8x7b (46.7B parameters, 12.9B active)"
std::string model_text(std::string_view name, std::uint64_t parameters, std::uint64_t active);
std::string model_text(const Transformer& model);

}  // namespace weft
