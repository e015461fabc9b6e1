// Settings of one framework each, as job files have them under the framework's key. Defaults are the frameworks' own.
#pragma once

#include <cstdint>
#include <optional>

#include "models/transformer/kernels.hpp"
#include "workloads/framework_versions.hpp"

namespace weft {

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
    Setting quantized_weights = Setting::off;       // ZeRO++ qwZ: zero_quantized_weights
    std::uint32_t hierarchical_ranks = 1;           // ZeRO++ hpZ: zero_hpz_partition_size; 1: off
    Setting quantized_gradients = Setting::off;     // ZeRO++ qgZ: zero_quantized_gradients
    Setting pipe_partitioned = Setting::on;         // boundary activations travel as tensor shards ...
    Setting grad_partitioned = Setting::on;         // ... and their gradients
    Setting partition_activations = Setting::off;   // checkpoints kept as tensor shards, gathered again in backward
    Setting attention_mask = Setting::on;           // sent along with every activation
    Setting log_calls = Setting::off;               // the communication logger: every call blocks
    Setting synchronize_each_layer = Setting::off;  // the host waits for the device after every layer
};

struct MegatronSettings {
    MegatronVersion version = version_of(megatron_versions, "core-0.8");
    Setting overlap_parameters = Setting::off;   // --overlap-param-gather
    Setting overlap_tensor = Setting::off;       // --tp-comm-overlap: gathers and scatters under their products
    double gradient_bytes = 0;                   // per element, kept and on the wire; 0: fp32 where training is in bf16
    Setting fused_cross_entropy = Setting::off;  // --cross-entropy-loss-fusion: two all-reduces instead of three
    Setting variable_sequence = Setting::off;    // shapes are exchanged before every boundary tensor
    Setting overlap_input_reduction = version.overlap_input_reduction;  // of column-parallel maps, under wgrad
    Fusion fused_accumulation = version.fused_accumulation;
    // Interleaved stages hand over under computation. Off also brings what went with it before 2023: tensor ranks send
    // shares of boundary tensors and gather them on the other side.
    Setting overlap_pipeline = version.overlap_pipeline;
    Setting transformer_engine = version.transformer_engine;  // --transformer-impl; off: local
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
    double reduce_bytes = 0;                    // per gradient element on the wire; 0: as the parameters
    Setting accumulate_locally = Setting::off;  // no_sync: unsharded gradients until the last micro-batch
};

// torch.nn.parallel.DistributedDataParallel.
struct DdpSettings {
    double first_bucket_mib = 1;
    double bucket_mib = 25;
};

// How tokens are spread over experts, by what the run does for it.
enum class Balancing : std::uint8_t { even, auxiliary_loss, bias };  // even: forced, or taken to be

// Mixture of experts, as the run (not the model) sets it.
struct ExpertSettings {
    Dispatch dispatcher = Dispatch::all_to_all;
    Setting eighth_dispatch = Setting::off;  // tokens travel in 8 bits to their experts, and back in 16
    Balancing balancing = Balancing::even;
    double imbalance = 1.0;                    // tokens of the busiest expert rank over the mean
    Setting imbalance_assumed = Setting::off;  // as balancing leaves it (parallelism/balancing.hpp)
    double capacity_factor = 0.0;  // 0: drop-less; else experts compute ceil(factor x tokens / experts) slots each

    bool operator==(const ExpertSettings&) const = default;
};

enum class ContextMethod : std::uint8_t { ring, all_gather, all_to_all };  // all_to_all: Ulysses

}  // namespace weft
