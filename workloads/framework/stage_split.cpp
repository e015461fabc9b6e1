#include "workloads/framework/stage_split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace weft {

std::vector<std::uint32_t> balanced_partition(std::span<const std::uint32_t> weights, std::uint32_t parts) {
    const auto items = static_cast<std::uint32_t>(weights.size());
    if (items <= parts) {
        std::vector<std::uint32_t> bounds(parts + 1);
        for (std::uint32_t i = 0; i <= parts; ++i) bounds[i] = std::min(i, items);
        return bounds;
    }
    constexpr auto infinite = std::numeric_limits<std::int64_t>::max() / 4;
    struct Best {
        std::int64_t heaviest = infinite, lightest = infinite, spread = infinite;
        std::uint32_t cut = 0;
    };
    std::vector<std::int64_t> prefix(items + 1, 0);
    std::partial_sum(weights.begin(), weights.end(), prefix.begin() + 1,
                     [](std::int64_t a, std::int64_t b) { return a + b; });
    std::vector<std::vector<Best>> best(items + 1, std::vector<Best>(parts + 1));
    best[0][0] = {.heaviest = 0, .lightest = infinite, .spread = 0, .cut = 0};
    for (std::uint32_t i = 1; i <= items; ++i) {
        for (std::uint32_t j = 1; j <= std::min(i, parts); ++j) {
            Best& here = best[i][j];
            for (std::uint32_t cut = 0; cut < i; ++cut) {
                const Best& before = best[cut][j - 1];
                if (before.heaviest == infinite) continue;
                const std::int64_t weight = prefix[i] - prefix[cut];
                const std::int64_t heaviest = std::max(before.heaviest, weight);
                const std::int64_t lightest = std::min(before.lightest, weight);
                if (heaviest - lightest <= here.spread) here = {heaviest, lightest, heaviest - lightest, cut};
            }
        }
    }
    std::vector<std::uint32_t> bounds(parts + 1, items);
    for (std::uint32_t j = parts; j > 0; --j) bounds[j - 1] = best[bounds[j]][j].cut;
    return bounds;
}

std::vector<std::uint32_t> neox_split(std::uint32_t layers, std::uint32_t stages) {
    // embedding, reshape, layers, reshape, final norm, output layer
    std::vector<std::uint32_t> weights(layers + 5, 1);
    weights.front() = 0;
    weights[layers + 3] = weights[layers + 4] = 0;
    const std::vector<std::uint32_t> bounds = balanced_partition(weights, stages);
    std::vector<std::uint32_t> split(stages);
    for (std::uint32_t s = 0; s < stages; ++s) {
        const std::uint32_t first = std::clamp(bounds[s], 2U, layers + 2);
        const std::uint32_t last = std::clamp(bounds[s + 1], 2U, layers + 2);
        split[s] = last - first;
    }
    return split;
}

std::vector<std::uint32_t> even_split(std::uint32_t layers, std::uint32_t stages, std::string& why) {
    if (layers % stages != 0) {
        why = fmt::format("{} pipeline stages do not divide {} layers", stages, layers);
        return {};
    }
    return std::vector<std::uint32_t>(stages, layers / stages);
}

std::vector<std::uint32_t> ends_split(std::uint32_t layers, std::uint32_t stages, std::string& why) {
    if ((layers + 2) % stages != 0) {
        why = fmt::format("{} pipeline stages do not divide {} layers, embedding and output layer", stages, layers);
        return {};
    }
    std::vector<std::uint32_t> split(stages, (layers + 2) / stages);
    --split.front();
    --split.back();
    return split;
}

}  // namespace weft
