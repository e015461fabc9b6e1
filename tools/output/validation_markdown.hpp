// The scorecard for a README.
#pragma once

#include <string>

#include "tools/validate/scorecard.hpp"

namespace weft {

std::string validation_markdown(const Validation& validation);  // a table of predicted sets, one of fitted ones

}  // namespace weft
