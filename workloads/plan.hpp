// What was decided: stages with their layers, costs and memory. A pure function of a study; `weft plan` stops here.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/job.hpp"

namespace weft {

// One transformer layer, the embedding and the head for one micro-batch on one tensor rank.
struct PartCosts {
    Seconds attention_forward, mlp_forward;
    Seconds attention_backward, mlp_backward;                // both gradients
    Seconds attention_weight_gradient, mlp_weight_gradient;  // of the column-parallel matrix, part of the backward
    Seconds core_forward;                                    // what selective recomputation repeats
    Seconds embedding_forward, embedding_backward;
    Seconds head_forward, head_backward;
    Flops layer_forward, layer_backward, core;
    Flops head_forward_flops, head_backward_flops;
};

struct Stage {
    std::uint32_t first_layer = 0;
    std::uint32_t layers = 0;
    enum class Ends : std::uint8_t { none = 0, embedding = 1, head = 2, both = 3 } ends = Ends::none;
    std::vector<Slot> slots;
    std::uint32_t in_flight = 0;               // most micro-batches whose activations are alive at once
    double matrices = 0;                       // parameters of this rank in matrices (with weight decay) ...
    double vectors = 0;                        // ... and in vectors (biases and norms)
    std::vector<GradientPart> gradient_parts;  // in backward order
    std::vector<Bucket> buckets;
    Seconds optimizer;
    Bytes activations_per_micro_batch;
    MemoryUse memory;

    bool has_embedding() const { return (static_cast<unsigned>(ends) & 1U) != 0; }
    bool has_head() const { return (static_cast<unsigned>(ends) & 2U) != 0; }
    double parameters() const { return matrices + vectors; }
};

struct Plan {
    Job job;
    Device device;
    MachineInfo machine;
    PartCosts costs;
    std::vector<Stage> stages;
    Flops model_flops;     // of a step: matrix products of forward and backward
    Flops hardware_flops;  // what the devices really compute: padding and recomputation included

    bool fits() const;                  // every stage within the device's memory
    std::size_t fullest_stage() const;  // by memory
};

Plan make_plan(const Study& study);

}  // namespace weft
