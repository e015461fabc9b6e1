// Work done by weft and by SimGrid.
#pragma once

#include <cstdint>

#include "bench/peers/work.hpp"

namespace weft::peers {

struct Answer {
    Seconds simulated;
    std::uint64_t messages = 0;
};

Answer run_weft(const Work& work);
// Once in a process: SimGrid's engine is a singleton.
Answer run_simgrid(const Work& work);

}  // namespace weft::peers
