#pragma once

#include <string_view>

namespace weft {

inline constexpr std::string_view version = WEFT_VERSION;    // of the CMake project
inline constexpr std::string_view released = WEFT_RELEASED;  // its day

}  // namespace weft
