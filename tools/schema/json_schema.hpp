// A JSON Schema of a kind of file, for editors and validators. Draft 7: of the later ones editors know parts only.
#pragma once

#include <string>

#include "tools/schema/reference.hpp"

namespace weft {

std::string json_schema(const Reference& reference);

}  // namespace weft
