// Groups that are one group, moved again and again: all the data-parallel groups of a stage, say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/base/table.hpp"

namespace weft {

// Group (a, w) holds the ranks of the first one, each plus across[a] + within[w].
struct GroupRow {
    std::vector<RankId> members;           // of the first group, ascending
    std::vector<std::uint32_t> across{0};  // by whole nodes; ascending from 0
    std::vector<std::uint32_t> within{0};  // inside their nodes; ascending from 0

    std::size_t groups() const { return across.size() * within.size(); }
};

inline RankId moved(RankId rank, std::uint32_t by) { return RankId(static_cast<std::uint32_t>(rank) + by); }

}  // namespace weft
