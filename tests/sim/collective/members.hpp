// Groups and loads in short, for tests.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <vector>

#include "sim/base/table.hpp"
#include "sim/network/network_model.hpp"

namespace weft::testing_support {

inline std::vector<RankId> ranks(std::initializer_list<std::uint32_t> list) {
    std::vector<RankId> out;
    for (const std::uint32_t r : list) out.push_back(RankId(r));
    return out;
}

inline std::vector<RankId> first_ranks(std::uint32_t n) {
    std::vector<RankId> out;
    for (std::uint32_t r = 0; r < n; ++r) out.push_back(RankId(r));
    return out;
}

inline std::map<std::uint32_t, double> loads_of(const Pattern& pattern) {
    std::map<std::uint32_t, double> loads;
    for (const LinkLoad& each : pattern.loads) loads[static_cast<std::uint32_t>(each.link)] = each.load;
    return loads;
}

}  // namespace weft::testing_support
