// Where the work of a program comes from.
#pragma once

#include <cstdint>

namespace weft {

// Of the computations that take equally long the first: its stage, and its number in the work of the stage's script.
struct WorkOrigin {
    std::uint32_t stage = 0, number = 0;
};

}  // namespace weft
