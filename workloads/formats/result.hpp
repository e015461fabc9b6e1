// What files of other tools come to, completed by what the user says beside them and checked.
#pragma once

#include <string>

#include "workloads/formats/format.hpp"

namespace weft {

// Puts the options into the object, has weft's own reader check it, and adds facts: of models and jobs "parameters" and
// "active_parameters". What is missing and only the user can say becomes an error among the notes. Throws ConfigError
// for the rest, at the places of the input. `path`: of the input, which names the object.
void finish_import(Import& import, const FormatOptions& options, const std::string& path);

}  // namespace weft
