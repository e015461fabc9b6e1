// Settings of one framework each, as job files have them under the framework's key. Defaults are the frameworks' own.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/transformer/kernels.hpp"
#include "workloads/job/framework_versions.hpp"

namespace weft {

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
