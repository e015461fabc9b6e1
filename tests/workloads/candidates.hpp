// What the knobs of a search's candidate stand at.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "workloads/search/plan_result.hpp"

namespace weft::test {

inline std::uint32_t chosen(const SearchSpace& space, const Candidate& candidate, std::string_view key) {
    const auto knob = std::ranges::find(space.knobs(), key, &Knob::key);
    return candidate.values.at(static_cast<std::size_t>(knob - space.knobs().begin()));
}

}  // namespace weft::test
