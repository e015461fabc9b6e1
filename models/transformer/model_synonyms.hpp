// What other tools call the keys of a model.
#pragma once

#include <span>

#include "sim/io/diagnostics.hpp"

namespace weft {

std::span<const Synonym> model_synonyms();

}  // namespace weft
