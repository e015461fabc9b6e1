// What FSDP wraps: each layer is a unit, what is left of a model part is the root unit, or, as torchtitan applies
// version 2, one unit before the layers and one after them. Experts that are sharded over another group are a unit of
// their own inside their layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "workloads/data_parallel/data_parallel.hpp"

namespace weft {

// What fully_shard keeps whole, and how long: settings of a job, or what torchtitan does by itself.

constexpr bool is_hybrid(const FsdpSettings& settings) {
    return settings.strategy == Sharding::hybrid || settings.strategy == Sharding::hybrid_gradients;
}
constexpr bool keeps_parameters(const FsdpSettings& settings) {
    return settings.strategy == Sharding::gradients || settings.strategy == Sharding::hybrid_gradients;
}

// Whether version 2 shards layers again between forward and backward. torchtitan's default keeps the parameters of a
// pipeline's stages (models/llama3/infra/parallelize.py, apply_fsdp).
constexpr bool reshards_layers(const FsdpSettings& settings, std::uint32_t stages) {
    const bool asked = settings.reshard != Reshard::by_strategy;
    return asked ? settings.reshard != Reshard::never : !keeps_parameters(settings) && stages == 1;
}

// Of version 2, by_version resolved: stages of a pipeline sum whole gradients until their last backward pass
// (torch/distributed/pipelining/stage.py, backward_maybe_with_nosync).
constexpr Accumulate accumulation_of(const FsdpSettings& settings, std::uint32_t stages) {
    if (settings.accumulate != Accumulate::by_version) return settings.accumulate;
    return stages > 1 ? Accumulate::step : Accumulate::never;
}

// Ranks that share one copy of a stage's gradients, of which it sums whole those of everything, of one of its `parts`
// beside the shards of all, or nothing.
constexpr double gradient_ranks(Accumulate accumulation, std::uint32_t parts, double ranks) {
    if (accumulation == Accumulate::step) return 1;
    return accumulation == Accumulate::round ? 1 / (1.0 / parts + 1 / ranks) : ranks;
}

// The layers that engines see in a stage's flat list of modules, and the order in which the hooks of modules fire as
// DeepSpeed registers them: on every module, also on those that only contain others (the model, a layer, its attention,
// its MLP).

// A module that only contains others: a layer, or a block of one.
struct Container {
    std::uint32_t first = 0, end = 0;
    // Modules inside whose biases it adds itself, where they hand them out: a layer those of its blocks' last modules,
    // a block those of the others.
    std::vector<std::uint32_t> hand_out;
    bool operator==(const Container&) const = default;
};
// Layer by layer, each before its blocks.
std::vector<Container> containers_of(std::span<const StageModule> modules);

// Containers (indices into containers_of) whose hooks fire just before those of a module, in this order.
struct ContainerHooks {
    std::vector<std::uint32_t> forward;   // the module is the first in them
    std::vector<std::uint32_t> backward;  // the module is the last in them
};

// Of each of `modules` modules. The hook of the whole model, before everything, is not among them.
std::vector<ContainerHooks> container_hooks(std::span<const Container> containers, std::size_t modules);

struct ModuleVisit {
    std::uint32_t module = 0;
    Pass pass{};
};

// One micro-batch, forward and backward; where layers are checkpointed each runs forward again before its backward.
std::vector<ModuleVisit> module_visits(std::span<const StageModule> modules, Checkpointing checkpointing);

enum class UnitKind : std::uint8_t { layer, root, embedding, head };

struct FsdpUnit {
    UnitKind kind{};
    RankGroups group{};                    // over which parameters are sharded
    std::uint32_t ranks = 1;               // of that group
    std::optional<RankGroups> replicas{};  // of its shards (hybrid sharding)
    std::uint32_t chunk = 0;
    std::uint32_t layer = 0;               // of its first module
    bool forward_alone = false;            // as its modules
    std::vector<std::uint32_t> modules{};  // in forward order
    // As gathered, and of them those that are trained, as scattered. Version 1 pads the flat parameter to a multiple of
    // the ranks, version 2 the first dimension of every tensor.
    double elements = 0, trained = 0;
};

// In forward order of their first modules.
std::vector<FsdpUnit> fsdp_units(const ShardingInput& input);

// Of each module, its unit.
std::vector<std::size_t> units_of_modules(std::span<const FsdpUnit> units, std::size_t modules);
// Whether a module is the one that a pass reaches first in its unit: where the unit runs forward again, backward starts
// at its front.
bool opens(const ShardingInput& input, const FsdpUnit& unit, std::size_t module, Pass pass);
// Whether the next unit's parameters are asked for where a pass opens one.
bool prefetches(const FsdpSettings& settings, Pass pass);

// Whether parameters are sharded in inner groups and replicated over them.
bool hybrid_sharding(const ShardingInput& input);

// Elements of a module's tensors, each cut along its first dimension into `ranks` shards of equal size
// (torch/distributed/fsdp/_fully_shard/_fsdp_param.py of PyTorch 2.9, _init_sharded_param: padded_sharded_size).
// Experts are slices of one tensor; where those that ranks share are fewer than the ranks, their second dimension is
// cut instead (torchtitan models/llama4/infra/parallelize.py, apply_fsdp), which has to divide.
enum class Counted : std::uint8_t { all, trained };
double padded_elements(const Module& module, std::uint32_t ranks, Counted counted = Counted::all);

}  // namespace weft
