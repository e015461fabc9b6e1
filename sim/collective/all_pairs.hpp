// Rounds in which every member sends to every other one at once, as is best where all are joined by links of their own.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/collective/algorithm.hpp"

namespace weft::collective {

// Member i sends chunk `chunk_of(i, j)` to each other member j.
template <class ChunkOf>
void append_all_pairs(std::vector<Transfer>& transfers, std::uint32_t n, bool reduce, ChunkOf chunk_of) {
    const std::uint32_t round = rounds_of(transfers);
    for (std::uint32_t i = 0; i < n; ++i) {
        for (std::uint32_t j = 0; j < n; ++j) {
            if (j != i) transfers.push_back({round, i, j, chunk_of(i, j), reduce});
        }
    }
}

}  // namespace weft::collective
