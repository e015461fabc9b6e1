// Header fields that every answer has: a page runs its own scripts only, loads nothing from elsewhere, is kept nowhere
// and framed by nobody else.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/serve/exchange.hpp"

namespace weft {

std::vector<std::pair<std::string, std::string>> security_fields(const HttpAnswer& answer);

}  // namespace weft
