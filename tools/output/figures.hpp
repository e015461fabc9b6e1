// Numbers for people.
#pragma once

#include <string>

namespace weft {

std::string percent(double share);   // 0.0421: "4.2 %"
std::string grouped(double number);  // a whole one, digits in groups of three: "12,345"

}  // namespace weft
