#include "workloads/framework/stage_split.hpp"

#include <fmt/format.h>

namespace weft {

std::vector<std::uint32_t> neox_split(std::uint32_t layers, std::uint32_t stages) {
    const std::uint32_t items = layers + 2;
    std::vector<std::uint32_t> split(stages, items / stages);
    for (std::uint32_t s = 0; s < items % stages; ++s) ++split[s];
    --split.front();
    --split.back();
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
