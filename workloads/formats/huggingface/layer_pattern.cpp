#include "workloads/formats/huggingface/layer_pattern.hpp"

#include <algorithm>

namespace weft {
namespace {

std::uint32_t position(const std::vector<bool>& layers, std::uint32_t from, bool value) {
    const auto found = std::find(layers.begin() + from, layers.end(), value);
    return static_cast<std::uint32_t>(found - layers.begin());
}

// Whether layer `first` + i is of the kind exactly where `of_kind(i)` says so.
template <class OfKind>
bool follows(const std::vector<bool>& layers, std::uint32_t first, OfKind of_kind) {
    for (std::uint32_t layer = 0; layer < layers.size(); ++layer) {
        if (layers[layer] != (layer >= first && of_kind(layer - first))) return false;
    }
    return true;
}

}  // namespace

std::optional<LayerPattern> expert_pattern(const std::vector<bool>& has_experts) {
    const auto count = static_cast<std::uint32_t>(has_experts.size());
    const std::uint32_t first = position(has_experts, 0, true);
    if (first == count) return std::nullopt;
    const std::uint32_t every = position(has_experts, first + 1, true) - first;
    if (!follows(has_experts, first, [&](std::uint32_t i) { return i % every == 0; })) return std::nullopt;
    return LayerPattern{first, every};
}

std::optional<LayerPattern> window_pattern(const std::vector<bool>& has_window) {
    const auto count = static_cast<std::uint32_t>(has_window.size());
    const std::uint32_t first = position(has_window, 0, true);
    if (first == count) return std::nullopt;
    const std::uint32_t full = position(has_window, first, false);
    const std::uint32_t every = full == count ? 0 : full - first + 1;
    const auto windowed = [&](std::uint32_t i) { return every == 0 || (i + 1) % every != 0; };
    if (!follows(has_window, first, windowed)) return std::nullopt;
    return LayerPattern{first, every};
}

}  // namespace weft
