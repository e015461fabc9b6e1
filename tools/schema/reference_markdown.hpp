// The reference of a kind of file: a table of the keys of each of its parts.
#pragma once

#include <string>

#include "tools/schema/reference.hpp"

namespace weft {

std::string reference_markdown(const Reference& reference);

}  // namespace weft
