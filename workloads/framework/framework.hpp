// A training framework: which communication calls it really issues, and how it cuts a model into stages. One file per
// framework. Calls are described, not executed: workloads/step turns them into operations.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/quantity.hpp"
#include "workloads/script/call.hpp"

namespace weft {

struct Job;
struct JobError;

// A slice of a stage's gradients that is reduced by one call.
struct Bucket {
    double elements = 0;
    std::size_t complete_after = 0;  // index (in backward order) of the part whose backward completes it
};

// How the sends and receives between two slots of a stage are ordered.
enum class Handover : std::uint8_t {
    sequential,  // blocking calls one after another; in a forward-to-backward turn the receive comes first
    paired,      // one batch of asynchronous send and receive, awaited together
};

// Parts of the backward pass of a stage in the order they run, with the parameters whose gradients they complete.
struct GradientPart {
    std::vector<std::uint64_t> tensors;  // elements of each on this tensor rank, in registration (forward) order
};

struct Framework {
    std::string_view name;
    Handover handover{};
    // Layers of each stage; empty if the framework cannot split so. `why` then says it.
    std::vector<std::uint32_t> (*split)(std::uint32_t layers, std::uint32_t stages, std::string& why);
    void (*check)(const Job& job, std::vector<JobError>& errors);

    // Tensor parallelism, per micro-batch. `..._reductions`: all-reduces of the layer's output or input gradient.
    std::uint32_t (*forward_reductions)(const Job& job);  // per layer, 1 or 2
    // Whether the input-gradient reduction runs under the weight-gradient GEMM of the same layer.
    bool reduces_under_weight_gradient;
    std::vector<Call> (*load_batch)(const Job& job, std::uint32_t stage);  // first and last stage
    std::vector<Call> (*embedding_forward)(const Job& job);
    std::vector<Call> (*head_forward)(const Job& job);  // after the logits
    std::vector<Call> (*head_backward)(const Job& job);

    // Pipeline: calls per micro-batch and boundary, in order.
    std::vector<Call> (*send_activation)(const Job& job);
    std::vector<Call> (*send_gradient)(const Job& job);
    std::vector<Call> (*gather_received_activation)(const Job& job);  // receiver, before its forward
    std::vector<Call> (*gather_before_backward)(const Job& job);      // sender of the activation, before its backward

    // Data parallelism, once per step.
    std::vector<Bucket> (*buckets)(const Job& job, std::uint32_t stage, std::span<const GradientPart> parts);
    Call (*reduce_bucket)(const Job& job, double elements);
    bool (*shards_optimizer)(const Job& job);
    std::vector<Call> (*before_reduction)(const Job& job);  // of gradients
    std::vector<Call> (*before_optimizer)(const Job& job);  // after it: overflow flags, gradient norm
    // `matrices`, `vectors`: elements of this rank's parameters by optimizer group.
    std::vector<Call> (*after_optimizer)(const Job& job, double matrices, double vectors);
    Bytes (*bucket_memory)(const Job& job, double elements);  // buffers held for gradient reduction
    double (*gradient_bytes)(const Job& job);                 // per element, as stored and reduced
};

namespace framework {
std::span<const Framework* const> all();
}

const Framework* find_framework(std::string_view name);  // nullptr if unknown
std::vector<std::string> framework_names();

}  // namespace weft
