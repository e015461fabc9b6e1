// An ordered group of ranks and the channels that its messages are split over.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/base/table.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

// Whether other groups send through the NICs of a group's members at the same time: they do where a member's NIC also
// serves a rank of the job that is not in the group.
enum class Ports : std::uint8_t { own, shared };

// Each channel is a full order of the members (a ring, or the member numbering of another algorithm); every message
// is split equally over the channels, which run side by side.
struct Communicator {
    std::vector<std::vector<RankId>> channels;
    Ports ports = Ports::own;
    // Other communicators that are this one, moved (Topology::move).
    std::vector<LinkMove> copies{};

    std::uint32_t size() const { return channels.empty() ? 0 : static_cast<std::uint32_t>(channels.front().size()); }
};

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
