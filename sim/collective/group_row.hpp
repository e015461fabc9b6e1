// Groups that are one group, moved again and again: all the data-parallel groups of a stage, say.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/table.hpp"

namespace weft {

// Moves by `first`, first + 1, ... nodes: so many in a row.
struct NodeRun {
    std::uint32_t first = 0, count = 1;
    bool operator==(const NodeRun&) const = default;
};

// The groups hold the ranks of the first one, moved by whole nodes and inside their nodes: each of the moves with each.
struct GroupRow {
    std::vector<RankId> members;           // of the first group, mostly ascending
    std::vector<NodeRun> moves{{0, 1}};    // ascending from 0; no run begins where the one before ends
    std::vector<std::uint32_t> within{0};  // by ranks, inside their nodes; ascending from 0

    std::uint32_t nodewise() const {  // how many moves by nodes
        std::uint32_t sum = 0;
        for (const NodeRun run : moves) sum += run.count;
        return sum;
    }
    std::uint32_t groups() const { return nodewise() * static_cast<std::uint32_t>(within.size()); }
};

inline RankId moved(RankId rank, std::uint32_t by) { return RankId(static_cast<std::uint32_t>(rank) + by); }

}  // namespace weft
