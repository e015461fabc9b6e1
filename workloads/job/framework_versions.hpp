// What the versions of the frameworks do by themselves, where they differ: one row per version, the
// latest first, as its source has it. Keys of a job go before it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace weft {

enum class Setting : std::uint8_t { off, on };

// microsoft/DeepSpeed by tag: runtime/engine.py (_configure_zero_optimizer), runtime/zero/stage_1_and_2.py
// (reduce_gradients, average_tensor, allreduce_bucket). Of releases between two minor versions the latest counts.
struct DeepSpeedVersion {
    std::string_view name;
    Setting stage1_overlap;  // of ZeRO-1's reductions: overlap_comm was ignored up to 0.12 (pull request 4887)
    // Whether a bucket is all-reduced whole; else once per owner of a slice. ZeRO-1 fell back to all-reduces where
    // contiguous_gradients was off for it (not in 0.7.2 to 0.7.7); use_multi_rank_bucket_allreduce came with 0.12.4.
    Setting stage1_whole, stage2_whole;
    bool operator==(const DeepSpeedVersion&) const = default;
};
inline constexpr std::array<DeepSpeedVersion, 12> deepspeed_versions{{
    {"0.16", Setting::on, Setting::on, Setting::on},
    {"0.15", Setting::on, Setting::on, Setting::on},
    {"0.14", Setting::on, Setting::on, Setting::on},
    {"0.13", Setting::on, Setting::on, Setting::on},
    {"0.12", Setting::off, Setting::on, Setting::on},
    {"0.11", Setting::off, Setting::on, Setting::off},
    {"0.10", Setting::off, Setting::on, Setting::off},
    {"0.9", Setting::off, Setting::on, Setting::off},
    {"0.8", Setting::off, Setting::on, Setting::off},
    {"0.7", Setting::off, Setting::off, Setting::off},
    {"0.6", Setting::off, Setting::on, Setting::off},
    {"0.5", Setting::off, Setting::on, Setting::off},
}};

// Which sums of weights' gradients the products that make them add to themselves.
enum class Fusion : std::uint8_t { none, single, all };  // single: those in fp32

// NVIDIA/Megatron-LM by date and tag: megatron/arguments.py, megatron/model, pretrain_gpt.py.
struct MegatronVersion {
    std::string_view name;
    Setting overlap_input_reduction;  // --no-async-tensor-model-parallel-allreduce, 3f652469 of September 2021
    Fusion fused_accumulation;        // --no-gradient-accumulation-fusion, 83b1e42f of February 2022; fp16: 07916bf2
    Setting overlap_pipeline;         // --no-overlap-p2p-communication, on since 4eeff55d of October 2023
    Setting transformer_engine;       // --transformer-impl, since 2024; before: Megatron-LM's own modules
    Setting losses_per_micro_batch;   // averaged over data ranks after each; once per step since 3806ec27 (core 0.13)
    Setting check_for_nan;            // --no-check-for-nan-in-loss-and-grad
    bool operator==(const MegatronVersion&) const = default;
};
inline constexpr std::array<MegatronVersion, 19> megatron_versions{{
    {"core-0.19", Setting::on, Fusion::all, Setting::on, Setting::on, Setting::off, Setting::on},
    {"core-0.18", Setting::on, Fusion::all, Setting::on, Setting::on, Setting::off, Setting::on},
    {"core-0.17", Setting::on, Fusion::all, Setting::on, Setting::on, Setting::off, Setting::on},
    {"core-0.16", Setting::on, Fusion::all, Setting::on, Setting::on, Setting::off, Setting::on},
    {"core-0.15", Setting::on, Fusion::all, Setting::on, Setting::on, Setting::off, Setting::on},
    {"core-0.14", Setting::on, Fusion::all, Setting::on, Setting::on, Setting::off, Setting::on},
    {"core-0.13", Setting::on, Fusion::all, Setting::on, Setting::on, Setting::off, Setting::on},
    {"core-0.12", Setting::on, Fusion::all, Setting::on, Setting::on, Setting::on, Setting::on},
    {"core-0.11", Setting::on, Fusion::all, Setting::on, Setting::on, Setting::on, Setting::on},
    {"core-0.10", Setting::on, Fusion::all, Setting::on, Setting::on, Setting::on, Setting::on},
    {"core-0.9", Setting::on, Fusion::all, Setting::on, Setting::on, Setting::on, Setting::on},
    {"core-0.8", Setting::on, Fusion::all, Setting::on, Setting::on, Setting::on, Setting::on},
    {"core-0.7", Setting::on, Fusion::all, Setting::on, Setting::on, Setting::on, Setting::on},
    {"core-0.6", Setting::on, Fusion::all, Setting::on, Setting::on, Setting::on, Setting::on},
    {"core-0.5", Setting::on, Fusion::all, Setting::on, Setting::on, Setting::on, Setting::on},
    {"2023", Setting::on, Fusion::all, Setting::off, Setting::off, Setting::on, Setting::off},
    {"2022", Setting::on, Fusion::single, Setting::off, Setting::off, Setting::on, Setting::off},
    {"2021", Setting::off, Fusion::none, Setting::off, Setting::off, Setting::on, Setting::off},
    {"2020", Setting::off, Fusion::none, Setting::off, Setting::off, Setting::on, Setting::off},
}};

// The row of a version; of one that the table has not, the latest.
template <class Versions>
constexpr const auto& version_of(const Versions& versions, std::string_view name) {
    for (const auto& row : versions) {
        if (row.name == name) return row;
    }
    return versions.front();
}

}  // namespace weft
