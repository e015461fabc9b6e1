// DeepSpeed's partitions of a list of items, of which the layers are the most.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "workloads/framework/layout_by_hand.hpp"

namespace weft {
namespace {

using Bounds = std::vector<std::uint32_t>;  // parts + 1

// The first parts hold one more where parts do not divide items.
Bounds uniform_bounds(std::uint32_t items, std::uint32_t parts) {
    Bounds bounds(parts + 1);
    for (std::uint32_t p = 0; p <= parts; ++p) bounds[p] = p * (items / parts) + std::min(p, items % parts);
    return bounds;
}

// The cuts with the smallest difference between the heaviest and the lightest part of each prefix, the latest of
// equals.
Bounds balanced_bounds(const std::vector<double>& weights, std::uint32_t parts) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    struct Best {
        double heaviest = infinite, lightest = infinite, spread = infinite;
        std::uint32_t cut = 0;
    };
    const auto items = static_cast<std::uint32_t>(weights.size());
    std::vector<double> prefix(items + 1, 0.0);
    std::partial_sum(weights.begin(), weights.end(), prefix.begin() + 1);
    std::vector<std::vector<Best>> best(items + 1, std::vector<Best>(parts + 1));
    best[0][0] = {.heaviest = 0, .lightest = infinite, .spread = 0, .cut = 0};
    for (std::uint32_t i = 1; i <= items; ++i) {
        for (std::uint32_t j = 1; j <= std::min(i, parts); ++j) {
            Best& here = best[i][j];
            for (std::uint32_t cut = j - 1; cut < i; ++cut) {
                const Best& before = best[cut][j - 1];
                if (before.heaviest == infinite) continue;
                const double weight = prefix[i] - prefix[cut];
                const double heaviest = std::max(before.heaviest, weight);
                const double lightest = std::min(before.lightest, weight);
                if (heaviest - lightest <= here.spread) here = {heaviest, lightest, heaviest - lightest, cut};
            }
        }
    }
    Bounds bounds(parts + 1, items);
    for (std::uint32_t j = parts; j > 0; --j) bounds[j - 1] = best[bounds[j]][j].cut;
    return bounds;
}

// Reshapes weigh nothing, and the final norm next to nothing: it is counted with the output layer wherever it stands.
// Of embedding, reshape, layers, reshape, norm, output layer; a tied output layer is counted as the embedding is.
std::vector<double> item_parameters(const Job& job) {
    const Transformer& model = job.model;
    std::vector<double> weights{static_cast<double>(embedding_parameters(model, 1)), 0.0};
    for (std::uint32_t layer = 0; layer < model.layers; ++layer) {
        weights.push_back(static_cast<double>(layer_parameters(model, layer_kind(model, layer), {})));
    }
    const double table = static_cast<double>(padded_vocabulary(model, 1)) * model.hidden;
    weights.insert(weights.end(), {0.0, static_cast<double>(final_norm_parameters(model)), table});
    return weights;
}

}  // namespace

std::vector<std::uint32_t> items_split(const Job& job, std::string& why) {
    const bool uniform = job.layout.split == StageSplit::uniform;
    const std::string_view name = uniform ? "uniform" : "parameters";
    if (job.framework->name != "deepspeed") {
        why = fmt::format(
            "{} is a partition_method of DeepSpeed; give even, ends, counts of the first and last stage, "
            "or a list",
            name);
        return {};
    }
    const std::uint32_t layers = job.model.layers, parts = job.model_parts(), items = layers + 5;
    if (parts > layers) {
        why = fmt::format("{} layers are too few for {} pipeline stages", layers, parts);
        return {};
    }
    const Bounds bounds = uniform ? uniform_bounds(items, parts) : balanced_bounds(item_parameters(job), parts);
    std::vector<std::uint32_t> split;
    for (std::uint32_t p = 0; p < parts; ++p) {
        split.push_back(std::clamp(bounds[p + 1], 2U, layers + 2) - std::clamp(bounds[p], 2U, layers + 2));
    }
    return split;
}

}  // namespace weft
