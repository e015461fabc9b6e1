// Arithmetic of Bash, as in "$((A * 8))".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "workloads/formats/shell/variables.hpp"

namespace weft {

// The value of an expression of integers whose names are variables. Without one where it is not known, then the
// variable that would have to be given goes to `unknown`, and where it is no expression.
std::optional<long long> shell_arithmetic(const ShellVariables& variables, std::string_view text, std::string& unknown);

}  // namespace weft
