// What files of another tool came to, for programs.
#pragma once

#include <string>

#include "workloads/formats/format.hpp"

namespace weft {

// {"format", "kind", "object", "facts", "notes"}
std::string import_json(const Format& format, const Import& import);

}  // namespace weft
