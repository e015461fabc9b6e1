// The layers that engines see in a stage's flat list of modules, and the order in which the hooks of modules fire as
// DeepSpeed registers them: on every module, also on those that only contain others (the model, a layer, its attention,
// its MLP).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "workloads/data_parallel/data_parallel.hpp"

namespace weft {

// Modules [first, end) of a layer. Embeddings, the final norm and the output layer, told by their names, belong to
// none.
struct LayerRange {
    std::uint32_t first = 0, end = 0;
    std::vector<LayerRange> blocks{};  // attention and MLP: runs of modules with matrices
};
std::vector<LayerRange> layer_ranges(std::span<const StageModule> modules);

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

}  // namespace weft
