// How a library carries a communication, in words.
#pragma once

#include <string>

#include "sim/program/program.hpp"

namespace weft {

// "ring simple, 8 channels"; empty where nobody chose a method.
std::string method_text(const Method& method);

}  // namespace weft
