#pragma once

#include <string_view>

namespace weft {

inline constexpr std::string_view version = WEFT_VERSION;  // of the CMake project

}  // namespace weft
