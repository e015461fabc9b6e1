// When the activations that a stage keeps may be the most, whatever each of its model parts keeps.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "workloads/schedule/schedule.hpp"

namespace weft {

struct Moment {
    SlotKind kind = SlotKind::forward;  // forward: one has just been done. backward: one on `chunk` is at work
    std::uint32_t chunk = 0;
    std::vector<std::uint32_t> alive;  // micro-batches whose activations are kept, by chunk
    // Of a backward that runs as one with a forward: the chunk of that, whose micro-batch is not among those alive.
    std::optional<std::uint32_t> ahead{};
    bool operator==(const Moment&) const = default;
};

// Of the slots of a stage with so many model parts, in their order: those moments that no other one of the same kind
// and chunk has at least as much alive as on every chunk. Backward slots that leave the weights out count, weights'
// gradients alone do not.
std::vector<Moment> fullest_moments(std::span<const Slot> slots, std::size_t chunks);

}  // namespace weft
