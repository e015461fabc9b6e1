#include "workloads/data_parallel/stage_tensors.hpp"

#include <algorithm>
#include <array>

#include "sim/base/check.hpp"

namespace weft {

std::vector<StageTensor> stage_tensors(std::span<const StageModule> modules) {
    std::vector<StageTensor> tensors;
    for (std::uint32_t m = 0; m < modules.size(); ++m) {
        const StageModule& module = modules[m];
        WEFT_CHECK(module.vector.size() == module.tensors.size(),
                   "a module says of each tensor whether it is a vector");
        for (std::size_t t = 0; t < module.tensors.size(); ++t) {
            tensors.push_back(
                {module.tensors[t], m, module.layer, module.chunk, static_cast<bool>(module.vector[t]), module.expert});
        }
    }
    return tensors;
}

std::vector<std::size_t> first_tensors(std::span<const StageModule> modules) {
    std::vector<std::size_t> first{0};
    for (const StageModule& module : modules) first.push_back(first.back() + module.tensors.size());
    return first;
}

bool has_narrow_products(const StageModule& module) {
    constexpr std::array<std::string_view, 5> wide{"embedding", "positions", "output layer", "tied embedding",
                                                   "router"};
    return std::ranges::find(wide, module.name) == wide.end();
}

void reduce_tied_embedding(Script& script, const ShardingInput& input, Through through) {
    if (input.embedding_tie == EmbeddingTie::none || input.stages == 1) return;
    const bool first = input.stage == 0;
    const auto copied = std::ranges::find(input.modules, "tied embedding", &StageModule::name);
    if (!first && copied == input.modules.end()) return;
    const StageModule& copy = first ? input.modules.front() : *copied;  // the embedding opens the first stage
    script.call({Collective::all_reduce,
                 RankGroups::embedding(),
                 {static_cast<double>(copy.tensors.front()) * input.gradient_bytes},
                 "all-reduce tied embedding",
                 input.gradient_type,
                 through},
                {});
}

void reduce_overflow_and_norm(Script& script, const ShardingInput& input, const std::vector<RankGroups>& groups) {
    const auto reduce = [&](std::string_view label) {
        for (const RankGroups group : groups) script.call({Collective::all_reduce, group, 4_B, label, "fp32"}, {});
    };
    if (input.loss_scaling == LossScaling::dynamic) reduce("all-reduce overflow");
    reduce("all-reduce gradient norm");
}

}  // namespace weft
