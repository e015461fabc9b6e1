// What measured runs say of an answer, for people.
#pragma once

#include <string>

#include "tools/validate/validity.hpp"

namespace weft {

std::string validity_text(const Validity& validity);
std::string memory_validity_text(const Validity& validity);  // its line about memory

}  // namespace weft
