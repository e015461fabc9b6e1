// A validation set that was left out of the fits, for people.
#pragma once

#include <string>
#include <string_view>

#include "tools/calibrate/leave_out.hpp"

namespace weft {

std::string left_out_text(std::string_view set, const LeftOut& result);

}  // namespace weft
