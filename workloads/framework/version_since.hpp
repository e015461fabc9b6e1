// What a version of Megatron-LM has, by the first that has it.
#pragma once

#include <algorithm>
#include <string_view>

#include "workloads/framework_versions.hpp"

namespace weft {

// `since`: a name in megatron_versions, which begin with the latest.
constexpr bool has_since(const MegatronVersion& version, std::string_view since) {
    const auto place = [](std::string_view name) {
        return std::ranges::find(megatron_versions, name, &MegatronVersion::name);
    };
    return place(version.name) <= place(since);
}

// First versions with flags of megatron/training/arguments.py, by its tags.
inline constexpr std::string_view first_and_last_since = "core-0.9";  // --decoder-first-pipeline-num-layers
inline constexpr std::string_view expert_bias_since = "core-0.11";    // --moe-router-enable-expert-bias
inline constexpr std::string_view predictions_since = "core-0.12";    // --mtp-num-layers
inline constexpr std::string_view stage_layout_since = "core-0.13";   // --pipeline-model-parallel-layout

}  // namespace weft
