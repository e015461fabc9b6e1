// Names of Megatron-LM's arguments, by what becomes of them.
#pragma once

#include <string_view>

namespace weft {

bool is_taken_over(std::string_view key);
bool has_no_effect(std::string_view key);  // on time and memory

}  // namespace weft
