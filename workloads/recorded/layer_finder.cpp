// Layers in a list of kernels: the profiler names none.
#include <algorithm>

#include "workloads/recorded/recorded_step.hpp"

namespace weft {
namespace {

// Kernels that precede two cores alike.
std::size_t common_before(const std::vector<ForwardKernel>& kernels, std::size_t first, std::size_t second) {
    std::size_t same = 0;
    while (same < first && kernels[first - 1 - same].fingerprint == kernels[second - 1 - same].fingerprint) ++same;
    return std::min(same, second - first - 1);
}

}  // namespace

std::vector<LayerBegin> find_layers(const std::vector<ForwardKernel>& kernels, std::uint32_t layers) {
    // An attention core may be several kernels on end.
    std::vector<std::size_t> cores;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        if (kernels[i].is_core && (i == 0 || !kernels[i - 1].is_core)) cores.push_back(i);
    }
    std::vector<LayerBegin> found;
    if (layers == 0 || cores.size() < layers || cores.size() % layers != 0) return found;
    const std::size_t before = cores.size() > 1 && layers > 1 ? common_before(kernels, cores[0], cores[1]) : cores[0];
    for (std::size_t i = 0; i < cores.size(); ++i) {
        const auto layer = static_cast<std::int32_t>(i % layers);
        found.push_back({kernels[cores[i] - std::min(before, cores[i])].launched, layer});
        if (layer + 1 < static_cast<std::int32_t>(layers)) continue;
        // The last layer is as long as the one before it; one alone ends where kernels do.
        if (layers < 2) continue;
        const std::size_t end = cores[i] + (cores[i] - cores[i - 1]) - before;
        if (end < kernels.size()) found.push_back({kernels[end].launched, no_layer});
    }
    return found;
}

}  // namespace weft
