#include "workloads/framework/layout_by_hand.hpp"

#include <fmt/format.h>

#include <numeric>

namespace weft {
namespace {

std::vector<std::uint32_t> refused(std::string& why, std::string reason) {
    why = std::move(reason);
    return {};
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
    if (sum != job.model.layers) {
        return refused(why, fmt::format("layout.split holds {} layers ({}), {} has {}", sum, fmt::join(layers, " + "),
                                        job.model.name, job.model.layers));
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
    const bool fits = stages >= ends && taken <= job.model.layers;
    const std::uint64_t rest = fits ? job.model.layers - taken : 0;
    if (!fits || (middle == 0) != (rest == 0) || (middle > 0 && rest % (std::uint64_t{middle} * chunks) != 0)) {
        return refused(why, fmt::format("first {} and last {} of {} layers leave {} to {} middle stages of {} parts, "
                                        "which must share them evenly; a list may deal them otherwise",
                                        given.first, given.last, job.model.layers, rest, middle, chunks));
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

std::vector<std::uint32_t> by_hand(const Job& job, std::string& why) {
    return job.layout.by_hand.layers.empty() ? first_and_last(job, why) : listed(job, why);
}

static void check_predictions(const Job& job, std::vector<JobError>& errors) {
    const StageLayout& given = job.layout.by_hand;
    const auto refuse = [&](std::string why) { errors.push_back({"layout.split", std::move(why)}); };
    const bool is_text = !given.text.empty();
    if (is_text && given.mtp_layers != job.model.mtp_layers) {
        refuse(fmt::format("places {} prediction modules (m), {} has {} (mtp_layers)", given.mtp_layers, job.model.name,
                           job.model.mtp_layers));
        return;
    }
    if (!job.predicts_apart()) return;
    const std::uint32_t part = job.prediction_part(), stages = job.layout.pipeline;
    if (job.schedule->chunks > 1) {
        refuse(fmt::format("under {} prediction modules stand with the loss, on part {}", job.schedule->key,
                           job.model_parts()));
    } else if (part + stages < job.model_parts()) {
        refuse(
            fmt::format("Megatron-core has prediction modules on the last part of a stage only: on part {} to {}, "
                        "not {}",
                        job.model_parts() - stages + 1, job.model_parts(), part + 1));
    } else if (job.model.tied_embeddings) {
        refuse("prediction modules away from the loss would need a tied embedding on three stages; put m before L");
    }
}

void check_by_hand(const Job& job, std::vector<JobError>& errors) {
    if (job.layout.split != StageSplit::by_hand) return;
    if (job.framework->name == "deepspeed") {
        errors.push_back({"layout.split",
                          "DeepSpeed takes no layout by hand; its partition_method is framework "
                          "(type:transformer|mlp), even (type:transformer), ends (type:transformer|embedding), uniform "
                          "or parameters"});
        return;
    }
    check_predictions(job, errors);
}

}  // namespace weft
