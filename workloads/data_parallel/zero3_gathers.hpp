// The all-gathers of ZeRO-3 and ZeRO++: which calls bring a list of tensors, and when they are waited for.
#pragma once

#include <span>
#include <vector>

#include "workloads/data_parallel/host_copies.hpp"
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

}  // namespace weft
