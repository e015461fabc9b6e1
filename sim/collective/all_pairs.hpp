// Rounds in which every member of a node sends to every other one at once, as is best where all are joined by links of
// their own.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/collective/algorithm.hpp"

namespace weft::collective {

inline bool is_in_one_node(const GroupShape& shape) { return shape.nodes == 1; }

// Member i sends chunk `chunk_of(i, j)` to each other member j.
template <class ChunkOf>
void append_all_pairs(std::vector<Transfer>& transfers, std::uint32_t n, std::uint32_t round, bool reduce,
                      ChunkOf chunk_of) {
    for (std::uint32_t i = 0; i < n; ++i) {
        for (std::uint32_t j = 0; j < n; ++j) {
            if (j != i) transfers.push_back({round, i, j, chunk_of(i, j), reduce});
        }
    }
}

}  // namespace weft::collective
