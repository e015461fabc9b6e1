// The all-gathers of ZeRO-3 and ZeRO++: which calls bring a list of tensors, and when they are waited for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "workloads/data_parallel/deepspeed_calls.hpp"
#include "workloads/data_parallel/stage_tensors.hpp"

namespace weft {

class Zero3Gathers {
  public:
    explicit Zero3Gathers(const ShardingInput& input);

    // Starts to gather tensors (indices into stage_tensors), together where they come from the same group. With hpZ
    // those that have been used in this step come from the copy in their inner group.
    void start(Script& script, std::span<const std::uint32_t> list, Where where);
    // The chain waits for what brings a tensor; nothing if it has been waited for.
    void finish(Script& script, std::size_t tensor);
    // One tensor by one blocking call.
    void gather_alone(Script& script, std::size_t tensor) const;

    void released(std::size_t tensor) { copied_[tensor] = true; }  // to its inner group
    void forget_copies();                                          // out of date after the optimizer step

  private:
    struct Gather {
        std::vector<ActionId> calls;
        bool finished = false;
    };
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    ShardingInput input_;
    HostCopies host_;
    std::vector<StageTensor> tensors_;
    std::vector<Gather> gathers_;
    std::vector<std::size_t> gather_of_;  // of each tensor: the one that brings it and has not been waited for
    std::vector<bool> copied_;            // of each tensor: whether inner groups hold an up-to-date copy
};

// Elements of a tensor as ZeRO-3 moves it: in shards of equal size.
double padded_elements(const ShardingInput& input, const StageTensor& tensor);

// The gradient reductions of ZeRO-3 and ZeRO++: one reduce-scatter a bucket, or quantised exchanges tensor by tensor.

class Zero3Gradients {
  public:
    explicit Zero3Gradients(const ShardingInput& input);

    void add(Script& script, std::size_t tensor, Where where);  // its gradient is complete
    // Reduces what has been added, and waits for it.
    void finish(Script& script, Where where);

  private:
    bool in_hops() const;
    void close(Script& script, Where where);
    void wait(Script& script);
    ActionId offload(Script& script, ActionId reduced, Where where) const;
    Call reduction(Collective op, RankGroups group, double elements) const;
    ActionId reduce_in_hops(Script& script, const StageTensor& tensor, Where where) const;

    ShardingInput input_;
    std::vector<StageTensor> tensors_;
    ContiguousBucket bucket_;
    HostCopies host_;
    std::vector<ActionId> in_flight_;  // reductions of the latest bucket, and copies
};

// Sizes of ZeRO++'s quantised messages (arXiv 2306.10209; DeepSpeed 0.14.0 runtime/zero/partition_parameters.py
// CUDAQuantizer, runtime/comm/coalesced_collectives.py all_to_all_quant_reduce).

// Scales of `elements` quantised weights: groups of at most 8,000 elements first, as few as divide them by eights,
// then halved while they are larger than that; never 16,000 or more where a division exists.
std::uint64_t quantization_groups(std::uint64_t elements);

// The two hops of a quantised gradient, bytes of one rank's buffer each.
struct QuantizedReduction {
    double inner_values = 0;  // 4 bits per element of the whole gradient, inside the node
    double inner_scales = 0;  // fp32
    double outer_values = 0;  // 4 bits per element of what is left after the first reduction
    double outer_scales = 0;
};

// `longest_side`: of the matrix. `ranks` in the data group, `node_ranks` of them in a node.
QuantizedReduction quantized_reduction(std::uint64_t elements, std::uint64_t longest_side, std::uint32_t ranks,
                                       std::uint32_t node_ranks);

}  // namespace weft
