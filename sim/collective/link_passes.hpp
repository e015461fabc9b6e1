// How often messages pass links.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/base/table.hpp"

namespace weft {

// How often messages of one size in one group pass a link, on their routes and on detours.
struct LinkPasses {
    static constexpr std::uint32_t several = std::numeric_limits<std::uint32_t>::max();  // groups, counted together
    LinkId link{};
    std::uint32_t group = 0, size = 0, routes = 0, detours = 0;
};

// Sorts those from `first` on, which mostly are, and joins those of one link, group and size.
inline void merge(std::vector<LinkPasses>& passes, std::size_t first = 0) {
    const auto from = passes.begin() + static_cast<std::ptrdiff_t>(first);
    const auto precedes = [](const LinkPasses& a, const LinkPasses& b) {
        if (a.link != b.link) return a.link < b.link;
        return a.group != b.group ? a.group < b.group : a.size < b.size;
    };
    if (!std::is_sorted(from, passes.end(), precedes)) std::sort(from, passes.end(), precedes);
    const auto is_alike = [](const LinkPasses& a, const LinkPasses& b) {
        return a.link == b.link && a.group == b.group && a.size == b.size;
    };
    std::size_t kept = first;
    for (std::size_t i = first; i < passes.size(); ++i) {
        if (kept > first && is_alike(passes[kept - 1], passes[i])) {
            passes[kept - 1].routes += passes[i].routes;
            passes[kept - 1].detours += passes[i].detours;
        } else {
            passes[kept++] = passes[i];
        }
    }
    passes.resize(kept);
}

}  // namespace weft
