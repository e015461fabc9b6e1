// Lists of which layers are of a kind, and the rules that say the same.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace weft {

// The `first` leading layers are others; of those after them one of each run of `every` is, or is not, of the kind.
struct LayerPattern {
    std::uint32_t first = 0;
    std::uint32_t every = 0;
};

// "first" and "every" of Experts: the first of each run has experts. Nothing: no such rule says it.
std::optional<LayerPattern> expert_pattern(const std::vector<bool>& has_experts);
// "first_full" and "full_every" of AttentionWindow: the last of each run has no window; every 0: all have.
std::optional<LayerPattern> window_pattern(const std::vector<bool>& has_window);

}  // namespace weft
