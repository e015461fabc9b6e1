// How often messages pass links.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "sim/base/table.hpp"

namespace weft {

// How often messages of one size in one group pass a link, on their routes and on detours.
struct LinkPasses {
    static constexpr std::uint32_t several = std::numeric_limits<std::uint32_t>::max();  // groups, counted together
    LinkId link{};
    std::uint32_t group = 0, size = 0, routes = 0, detours = 0;
};

// Sorts those from `first` on, and joins those of one link, group and size.
inline void merge(std::vector<LinkPasses>& passes, std::size_t first = 0) {
    const auto key = [](const LinkPasses& each) { return std::tuple(each.link, each.group, each.size); };
    std::sort(passes.begin() + static_cast<std::ptrdiff_t>(first), passes.end(),
              [&](const LinkPasses& a, const LinkPasses& b) { return key(a) < key(b); });
    std::size_t kept = first;
    for (std::size_t i = first; i < passes.size(); ++i) {
        if (kept > first && key(passes[kept - 1]) == key(passes[i])) {
            passes[kept - 1].routes += passes[i].routes;
            passes[kept - 1].detours += passes[i].detours;
        } else {
            passes[kept++] = passes[i];
        }
    }
    passes.resize(kept);
}

}  // namespace weft
