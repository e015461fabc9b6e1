// One run in a process of its own, so that its memory is its own.
#pragma once

#include <functional>

#include "bench/peers/runs.hpp"

namespace weft::peers {

struct Measurement {
    Answer answer;
    Seconds processor, wall;  // of the whole process
    Bytes peak;               // resident
};

Measurement measure(const std::function<Answer()>& run);

}  // namespace weft::peers
