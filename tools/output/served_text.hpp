// What a machine file can serve: of each library, which frameworks with which kind of parallelism.
#pragma once

#include <string>

namespace weft {

// `name`: of a shipped machine, or a path. Tried with jobs on two ranks. Throws ConfigError as Machine::load() does.
std::string served_text(const std::string& name);

}  // namespace weft
