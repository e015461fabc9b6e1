// A pipeline schedule as a pure function: for each stage, the order of its forward and backward slots.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

enum class SlotKind : std::uint8_t { forward, backward };

struct Slot {
    SlotKind kind;
    std::uint32_t micro_batch;
    bool operator==(const Slot&) const = default;
};

// One file per schedule, workloads/schedule/<file>.cpp; `key` is its name in a job file.
struct Schedule {
    std::string_view key;
    std::string_view summary;
    // Slots of `stage` (0 .. stages - 1): every micro-batch once forward and once backward.
    std::vector<Slot> (*slots)(std::uint32_t stage, std::uint32_t stages, std::uint32_t micro_batches);
};

namespace schedule {
std::span<const Schedule* const> all();
}

const Schedule* find_schedule(std::string_view key);  // nullptr if unknown
std::vector<std::string> schedule_keys();

// The most micro-batches whose activations are alive at once on a stage with these slots.
std::uint32_t peak_in_flight(std::span<const Slot> slots);

}  // namespace weft
