// The scorecard as a page: errors by set, predicted over measured, every row, sources and assumptions.
#pragma once

#include <string>

#include "tools/validate/scorecard.hpp"

namespace weft {

std::string validation_html(const Validation& validation);

}  // namespace weft
