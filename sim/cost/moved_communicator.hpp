// Whether ranks are others, moved.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "sim/base/table.hpp"
#include "sim/cost/communicator.hpp"

namespace weft {

inline std::int32_t apart(RankId from, RankId to) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(to) - static_cast<std::uint32_t>(from));
}

// By how much each of some ranks is moved to be one of others, in equal order; nothing if they are not.
inline std::optional<std::int32_t> shift_between(std::span<const RankId> from, std::span<const RankId> to) {
    const std::int32_t by = apart(from.front(), to.front());
    const auto after = [&](RankId rank) {
        return RankId(static_cast<std::uint32_t>(rank) + static_cast<std::uint32_t>(by));
    };
    return std::ranges::equal(from, to, {}, after) ? std::optional(by) : std::nullopt;
}

inline bool are_moved(const Communicator& from, const Communicator& to, std::int32_t by) {
    return from.ports == to.ports && std::ranges::equal(from.channels, to.channels, [&](const auto& a, const auto& b) {
               return shift_between(a, b) == by;
           });
}

}  // namespace weft
