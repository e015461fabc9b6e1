#include "workloads/framework/framework.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "workloads/framework/refusals.hpp"

namespace weft {

static std::vector<std::uint32_t> refused(std::string& why, std::string reason) {
    why = std::move(reason);
    return {};
}

std::vector<std::uint32_t> neox_split(std::uint32_t layers, std::uint32_t stages) {
    const std::uint32_t items = layers + 2;
    std::vector<std::uint32_t> split(stages, items / stages);
    for (std::uint32_t s = 0; s < items % stages; ++s) ++split[s];
    --split.front();
    --split.back();
    return split;
}

std::vector<std::uint32_t> even_split(std::uint32_t layers, std::uint32_t stages, std::string& why) {
    if (layers % stages != 0)
        return refused(why, fmt::format("{} pipeline stages do not divide {} layers", stages, layers));
    return std::vector<std::uint32_t>(stages, layers / stages);
}

std::vector<std::uint32_t> ends_split(std::uint32_t layers, std::uint32_t stages, std::string& why) {
    if ((layers + 2) % stages != 0) {
        return refused(
            why, fmt::format("{} pipeline stages do not divide {} layers, embedding and output layer", stages, layers));
    }
    std::vector<std::uint32_t> split(stages, (layers + 2) / stages);
    --split.front();
    --split.back();
    return split;
}

// DeepSpeed's partitions of a list of items, of which the layers are the most.

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

std::vector<std::uint32_t> too_few(std::uint32_t layers, std::uint32_t stages, std::string& why) {
    return refused(why, fmt::format("{} layers are too few for {} pipeline stages", layers, stages));
}

// Reshapes weigh nothing, and the final norm next to nothing: it is counted with the output layer wherever it stands.
// Of embedding, reshape, layers, reshape, norm, output layer; a tied output layer is counted as the embedding is.
std::vector<double> item_parameters(const Job& job) {
    const Transformer& model = job.model;
    std::vector<double> weights{static_cast<double>(embedding_parameters(model, 1)), 0.0};
    for (std::uint32_t layer = model.encoder.layers; layer < model.layers; ++layer) {
        weights.push_back(static_cast<double>(layer_parameters(model, layer_kind(model, layer), {})));
    }
    const double table = static_cast<double>(padded_vocabulary(model, 1)) * model.hidden;
    weights.insert(weights.end(), {0.0, static_cast<double>(final_norm_parameters(model)), table});
    return weights;
}

std::string parts_text(const Job& job) {
    const std::uint32_t chunks = job.model_parts() / job.layout.pipeline;
    if (chunks < 2) return fmt::format("{} pipeline stages have {}", job.layout.pipeline, job.model_parts());
    return fmt::format("{} pipeline stages of {} parts have {}", job.layout.pipeline, chunks, job.model_parts());
}

std::vector<std::uint32_t> listed(const Job& job, std::string& why) {
    const std::vector<std::uint32_t>& layers = job.layout.by_hand.layers;
    if (layers.size() != job.model_parts()) {
        return refused(
            why, fmt::format("layout.split has {} model parts, {}; give as many", layers.size(), parts_text(job)));
    }
    const std::uint64_t sum = std::accumulate(layers.begin(), layers.end(), std::uint64_t{0});
    if (sum != job.model.own_layers()) {
        return refused(why, fmt::format("layout.split holds {} layers ({}), {} has {}", sum, fmt::join(layers, " + "),
                                        job.model.name, job.model.own_layers()));
    }
    return layers;
}

std::vector<std::uint32_t> first_and_last(const Job& job, std::string& why) {
    const StageLayout& given = job.layout.by_hand;
    const std::uint32_t stages = job.layout.pipeline, chunks = job.model_parts() / stages;
    const std::uint32_t ends = (given.first > 0 ? 1U : 0U) + (given.last > 0 ? 1U : 0U);
    if (job.schedule->chunks > 1) {
        return refused(why, fmt::format("first and last speak of stages, whose two parts {} takes from both ends; give "
                                        "a list of {} parts",
                                        job.schedule->key, job.model_parts()));
    }
    for (const std::uint32_t count : {given.first, given.last}) {
        if (count % chunks == 0) continue;
        return refused(why, fmt::format("{} virtual stages do not divide the {} layers of a stage", chunks, count));
    }
    const std::uint64_t taken = std::uint64_t{given.first} + given.last;
    const std::uint32_t middle = stages - std::min(stages, ends);
    const bool fits = stages >= ends && taken <= job.model.own_layers();
    const std::uint64_t rest = fits ? job.model.own_layers() - taken : 0;
    if (!fits || (middle == 0) != (rest == 0) || (middle > 0 && rest % (std::uint64_t{middle} * chunks) != 0)) {
        return refused(why, fmt::format("first {} and last {} of {} layers leave {} to {} middle stages of {} parts, "
                                        "which must share them evenly; a list may deal them otherwise",
                                        given.first, given.last, job.model.own_layers(), rest, middle, chunks));
    }
    const auto each = middle == 0 ? 0U : static_cast<std::uint32_t>(rest / middle / chunks);
    std::vector<std::uint32_t> layers;
    for (std::uint32_t part = 0; part < job.model_parts(); ++part) {
        const std::uint32_t stage = part % stages;
        const bool is_first = stage == 0 && given.first > 0, is_last = stage + 1 == stages && given.last > 0;
        layers.push_back(is_first ? given.first / chunks : is_last ? given.last / chunks : each);
    }
    return layers;
}

}  // namespace

std::vector<std::uint32_t> items_split(const Job& job, std::string& why) {
    const bool uniform = job.layout.split == StageSplit::uniform;
    const std::string_view name = uniform ? "uniform" : "parameters";
    if (job.framework->name != "deepspeed") {
        return refused(why, fmt::format("{} is a partition_method of DeepSpeed; give even, ends, counts of the first "
                                        "and last stage, or a list",
                                        name));
    }
    const std::uint32_t layers = job.model.own_layers(), parts = job.model_parts(), items = layers + 5;
    if (parts > layers) return too_few(layers, parts, why);
    const Bounds bounds = uniform ? uniform_bounds(items, parts) : balanced_bounds(item_parameters(job), parts);
    return list_of<std::uint32_t>(numbers_below<std::uint32_t>(parts), [&](std::uint32_t p) {
        return std::clamp(bounds[p + 1], 2U, layers + 2) - std::clamp(bounds[p], 2U, layers + 2);
    });
}

std::vector<std::uint32_t> nearly_even_split(std::uint32_t layers, std::uint32_t stages, std::string& why) {
    if (stages > layers) return too_few(layers, stages, why);
    Bounds split = uniform_bounds(layers, stages);
    std::adjacent_difference(split.begin(), split.end(), split.begin());
    split.erase(split.begin());
    return split;
}

std::vector<std::uint32_t> by_hand(const Job& job, std::string& why) {
    return job.layout.by_hand.layers.empty() ? first_and_last(job, why) : listed(job, why);
}

static void check_predictions(const Job& job, const Refusals& refuse) {
    constexpr std::string_view key = "layout.split";
    const StageLayout& given = job.layout.by_hand;
    if (!given.text.empty() && given.mtp_layers != job.model.mtp_layers) {
        return refuse(key, "places {} prediction modules (m), {} has {} (mtp_layers)", given.mtp_layers, job.model.name,
                      job.model.mtp_layers);
    }
    if (!job.predicts_apart()) return;
    const std::uint32_t part = job.prediction_part(), stages = job.layout.pipeline;
    if (job.schedule->chunks > 1) {
        refuse(key, "under {} prediction modules stand with the loss, on part {}", job.schedule->key,
               job.model_parts());
    } else if (part + stages < job.model_parts()) {
        refuse(key, "Megatron-core has prediction modules on the last part of a stage only: on part {} to {}, not {}",
               job.model_parts() - stages + 1, job.model_parts(), part + 1);
    } else if (job.model.tied_embeddings) {
        refuse(key,
               "prediction modules away from the loss would need a tied embedding on three stages; put m before L");
    }
}

void check_by_hand(const Job& job, const Refusals& refuse) {
    const bool by_list = job.layout.split == StageSplit::by_hand, by_cost = job.layout.split == StageSplit::cost;
    refuse.when(by_cost && !job.model.teacher.empty(), "layout.split",
                "a teacher's layers go with the parts, which are not known before their costs are; give a list");
    const bool deepspeed = job.framework->name == "deepspeed";
    if (by_list && !deepspeed) check_predictions(job, refuse);
    refuse.when((by_list || by_cost) && deepspeed, "layout.split",
                "DeepSpeed takes no layout by hand; its partition_method is framework (type:transformer|mlp), even "
                "(type:transformer), ends (type:transformer|embedding), uniform or parameters");
}

}  // namespace weft
