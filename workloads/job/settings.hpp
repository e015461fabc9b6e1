// Settings of the optimizer, and of one framework each, as job files have them under its key. Defaults are the
// frameworks' own, by their versions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "models/transformer/kernels.hpp"

namespace weft {

// What the versions of the frameworks do by themselves, where they differ: one row per version, the latest first, as
// its source has it. Keys of a job go before it.
enum class Setting : std::uint8_t { off, on };
constexpr bool is_on(Setting setting) { return setting == Setting::on; }

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

// What updates the parameters, in which precision it remembers, and where.
// muon: momentum alone for matrices, whose updates are made orthogonal (Jordan et al. 2024; Liu et al., 2502.16982);
// what is no matrix of a layer goes by Adam.
enum class UpdateRule : std::uint8_t { adam, muon };

// remainders: the 16 bits that parameters in bf16 lack of a master copy in fp32 (Transformer Engine,
// pytorch/optimizers/fused_adam.py, store_param_remainders).
enum class StateFormat : std::uint8_t { fp32, bf16, fp16, fp8, remainders };
constexpr double bytes_of(StateFormat format) {
    return format == StateFormat::fp32 ? 4 : format == StateFormat::fp8 ? 1 : 2;
}

// nvme: on the drives of the host's node, of which the host holds what it updates.
enum class StatesOn : std::uint8_t { device, host, nvme };

struct OptimizerSettings {
    UpdateRule rule = UpdateRule::adam;
    StateFormat master = StateFormat::fp32;  // kept beside a working copy of 16 bits alone
    StateFormat momentum = StateFormat::fp32, variance = StateFormat::fp32;
    StatesOn states = StatesOn::device;
    double fraction = 1.0;  // of the parameters, whose states are there; the device updates the others

    bool leave_device() const { return states != StatesOn::device; }
    bool operator==(const OptimizerSettings&) const = default;
};

// Megatron-core's --use-precision-aware-optimizer.
constexpr bool is_precision_aware(const OptimizerSettings& optimizer) {
    constexpr StateFormat usual = StateFormat::fp32;
    return optimizer.master != usual || optimizer.momentum != usual || optimizer.variance != usual;
}

// Where ZeRO-3 keeps a rank's shards between their uses (offload_param).
enum class ParametersOn : std::uint8_t { device, host, nvme };

// DeepSpeed (runtime/zero/config.py, runtime/config.py) under GPT-NeoX.
struct DeepSpeedSettings {
    DeepSpeedVersion version = version_of(deepspeed_versions, "0.14");
    Setting reduce_scatter = Setting::on;  // off: ZeRO-1/2 all-reduce the whole bucket buffer, ZeRO-3 all-reduces
    // use_multi_rank_bucket_allreduce; off: one reduce per owner; absent: as the version does at the job's stage
    std::optional<Setting> multi_rank_allreduce{};
    double prefetch_elements = 5e7;     // stage3_prefetch_bucket_size
    double persistence_elements = 1e5;  // stage3_param_persistence_threshold
    double max_live_elements = 1e9;     // stage3_max_live_parameters
    double max_reuse_elements = 1e9;    // stage3_max_reuse_distance
    double sub_group_elements = 1e9;
    Setting quantized_weights = Setting::off;    // ZeRO++ qwZ: zero_quantized_weights
    std::uint32_t hierarchical_ranks = 1;        // ZeRO++ hpZ: zero_hpz_partition_size; 1: off
    Setting quantized_gradients = Setting::off;  // ZeRO++ qgZ: zero_quantized_gradients
    ParametersOn parameters = ParametersOn::device;
    Setting pipe_partitioned = Setting::on;         // boundary activations travel as tensor shards ...
    Setting grad_partitioned = Setting::on;         // ... and their gradients
    Setting partition_activations = Setting::off;   // checkpoints kept as tensor shards, gathered again in backward
    Setting attention_mask = Setting::on;           // sent along with every activation
    Setting log_calls = Setting::off;               // the communication logger: every call blocks
    Setting synchronize_each_layer = Setting::off;  // the host waits for the device after every layer
    Setting wall_clock_breakdown = Setting::off;    // and before and after every pass: timers that synchronise
    bool operator==(const DeepSpeedSettings&) const = default;
};

// Whether the parameters of a layer are sharded again between forward and backward: as the strategy says, never,
// always, or over fewer ranks than at rest (fully_shard's integer reshard_after_forward).
enum class Reshard : std::uint8_t { by_strategy, never, always, over_few };
// How long gradients are summed whole: as the version does, not at all, until the stage turns to another of its model
// parts, or until the step's last micro-batch.
enum class Accumulate : std::uint8_t { by_version, never, round, step };

enum class MegatronSharding : std::uint8_t { none, gradients, parameters };  // optim_grads, optim_grads_params

struct MegatronSettings {
    MegatronVersion version = version_of(megatron_versions, "core-0.8");
    Setting names_version = Setting::off;        // off: the job leaves open which release runs it
    Setting overlap_parameters = Setting::off;   // --overlap-param-gather
    Setting overlap_tensor = Setting::off;       // --tp-comm-overlap: gathers and scatters under their products
    double gradient_bytes = 0;                   // per element, kept and on the wire; 0: fp32 where training is in bf16
    Setting eighth_attention = Setting::off;     // fp8_dot_product_attention
    Setting eighth_output = Setting::off;        // fp8_output_proj: the output layer's products in MXFP8
    Setting eighth_parameters = Setting::off;    // --fp8-param-gather: parameters are kept and gathered in fp8
    Setting fused_cross_entropy = Setting::off;  // --cross-entropy-loss-fusion: two all-reduces instead of three
    Setting variable_sequence = Setting::off;    // shapes are exchanged before every boundary tensor
    Setting overlap_input_reduction = version.overlap_input_reduction;  // of column-parallel maps, under wgrad
    Fusion fused_accumulation = version.fused_accumulation;
    // Interleaved stages hand over under computation. Off also brings what went with it before 2023: tensor ranks send
    // shares of boundary tensors and gather them on the other side.
    Setting overlap_pipeline = version.overlap_pipeline;
    Setting transformer_engine = version.transformer_engine;  // --transformer-impl; off: local
    Setting check_for_nan = version.check_for_nan;            // of losses and gradients: the host waits for each
    // --distribute-saved-activations: tensor ranks each keep a share of a checkpoint.
    Setting distribute_saved_activations = Setting::off;
    // Megatron-FSDP (--use-megatron-fsdp --data-parallel-sharding-strategy): which states data ranks share.
    MegatronSharding sharding = MegatronSharding::none;
    Accumulate accumulate = Accumulate::never;  // of gradients that are shared
    bool operator==(const MegatronSettings&) const = default;
};

enum class Sharding : std::uint8_t { full, gradients, hybrid, hybrid_gradients };  // FSDP's ShardingStrategy
enum class BackwardPrefetch : std::uint8_t { none, before, after };  // the next gather against the current backward

struct FsdpSettings {
    std::uint32_t version = 1;  // 1: flat parameter per unit; 2: a group of per-parameter shards
    Sharding strategy = Sharding::full;
    std::uint32_t shard_ranks = 0;  // hybrid: ranks that share one copy; 0: those of a node
    BackwardPrefetch backward_prefetch = BackwardPrefetch::before;
    Setting forward_prefetch = Setting::off;
    Setting limit_all_gathers = Setting::on;
    Setting fused_cross_entropy = Setting::off;  // CrossEntropy::apart
    double reduce_bytes = 0;                     // per gradient element on the wire; 0: as the parameters
    Accumulate accumulate = Accumulate::by_version;
    Reshard reshard = Reshard::by_strategy;
    std::uint32_t reshard_ranks = 0;  // Reshard::over_few: ranks that share a layer between forward and backward
    bool operator==(const FsdpSettings&) const = default;
};

// torch.nn.parallel.DistributedDataParallel.
struct DdpSettings {
    double first_bucket_mib = 1;
    double bucket_mib = 25;
    bool operator==(const DdpSettings&) const = default;
};

// What runs beside the all-to-alls of experts: nothing; the shared experts of the same layer; or the other pass, where
// the forward of one micro-batch and the backward of another run as one.
enum class ExpertOverlap : std::uint8_t { none, shared_experts, passes };
// How tokens are spread over experts, by what the run does for it.
// `even`: forced, or taken to be. Losses of the tokens of a micro-batch, of each of its sequences, or of all ranks'.
enum class Balancing : std::uint8_t { even, auxiliary_loss, sequence_auxiliary_loss, global_auxiliary_loss, bias };

// Mixture of experts, as the run (not the model) sets it.
struct ExpertSettings {
    Dispatch dispatcher = Dispatch::all_to_all;
    Setting eighth_dispatch = Setting::off;  // tokens travel in 8 bits to their experts, and back in 16
    Setting fused_indices = Setting::off;    // a kernel finds the rows of each expert that DeepEP brought
    Setting padded_routing = Setting::off;   // the router gives experts as many rows as narrow products take
    Setting paged_stash = Setting::off;      // what experts keep for backward is copied into pages, and back
    Balancing balancing = Balancing::even;
    std::vector<Balancing> other_losses;       // beside that of `balancing`
    double imbalance = 1.0;                    // tokens of the busiest expert rank over the mean; of layers their mean
    std::vector<double> given_by_layer;        // of each layer with experts; empty: one for all
    std::vector<std::vector<double>> tokens;   // or of it what each expert got
    std::vector<double> by_layer;              // what follows for each layer of the model; empty: one for all
    Setting imbalance_assumed = Setting::off;  // as balancing leaves it (parallelism/experts.hpp)
    double capacity_factor = 0.0;  // 0: drop-less; else experts compute ceil(factor x tokens / experts) slots each
    std::optional<ExpertOverlap> overlap{};  // absent: what the schedule is for (parallelism/experts.hpp)
    std::optional<Setting>
        delay_weight_gradients{};  // in joint passes, until tokens are on their way; absent: likewise

    bool operator==(const ExpertSettings&) const = default;
};

enum class ContextMethod : std::uint8_t { ring, all_gather, all_to_all };  // all_to_all: Ulysses

}  // namespace weft
