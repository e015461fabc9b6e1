// SHA-256 (FIPS 180-4), to tell whether two inputs are the same.
#pragma once

#include <string>
#include <string_view>

namespace weft {

std::string sha256(std::string_view text);  // 64 hexadecimal digits

}  // namespace weft
