// What DeepSpeed's optimizers share: start-up broadcasts, optimizer groups, small reductions around the step.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "workloads/data_parallel/data_parallel.hpp"

namespace weft {

inline constexpr double deepspeed_bucket_elements = 5e8;  // reduce_bucket_size, and the limit of stage 0's all-reduces

inline double deepspeed_bucket(const ShardingInput& input) {
    return input.bucket_elements > 0 ? input.bucket_elements : deepspeed_bucket_elements;
}

// A call through deepspeed.comm, which its logger sees.
inline Call deepspeed_call(Collective op, RankGroups group, double bytes, std::string_view label,
                           std::string_view type) {
    return {op, group, {bytes}, label, type, Through::deepspeed};
}

// Writes a call that may run beside computation, or blocking where the communication logger is on: it synchronises the
// device after every call.
ActionId issue_unless_logged(Script& script, const ShardingInput& input, const Call& call, Where where);

// engine.py _broadcast_model: every tensor once, one call each.
void broadcast_parameters(Script& script, const ShardingInput& input);

// A flat run of parameters with one set of optimizer options: NeoX has one with weight decay (matrices) and one
// without (vectors); experts have their own.
struct OptimizerGroup {
    RankGroups group{};
    std::uint32_t ranks = 1;
    std::vector<std::size_t> tensors{};  // indices into stage_tensors, in registration order
    double elements = 0;
    double padded = 0;  // to a multiple of 2 ranks: shards start on 4-byte boundaries of fp16 (stage_1_and_2.py)
};
std::vector<OptimizerGroup> optimizer_groups(const ShardingInput& input);

// One all-gather per optimizer group; allgather_bucket_size is ignored where torch has all_gather_into_tensor (1.13).
// Skipped for a group of one rank.
void gather_updated_parameters(Script& script, const ShardingInput& input);

// One byte: whether any gradient is infinite.
inline void all_reduce_overflow(Script& script, RankGroups group) {
    script.call(deepspeed_call(Collective::all_reduce, group, 1, "all-reduce overflow", "uint8"));
}
// A float: the sum of squares.
inline void all_reduce_gradient_norm(Script& script, RankGroups group) {
    script.call(deepspeed_call(Collective::all_reduce, group, 4, "all-reduce gradient norm", "fp32"));
}

// The contiguous gradient bucket of DeepSpeed's ZeRO optimizers: reduced before a tensor that would overfill it is
// added. A tensor larger than the bucket is reduced alone.
struct ContiguousBucket {
    double limit, filled = 0;  // elements
    std::vector<std::size_t> tensors{};

    void add(std::size_t tensor, double elements) {
        tensors.push_back(tensor);
        filled += elements;
    }
    void clear() { *this = {limit}; }
};

// ZeRO-Offload (Ren et al. 2021, 2101.06840; DeepSpeed 0.14 runtime/zero/stage_1_and_2.py, copy_grads_in_partition, and
// stage3.py, partition_grads): what a rank owns of the gradients goes to its host as it is reduced, and the parameters
// that the host has updated come back.
class HostCopies {
  public:
    explicit HostCopies(const ShardingInput& input) : input_(input) {}

    bool used() const { return input_.optimizer.leave_device(); }
    bool holds_parameters() const { return input_.deepspeed.parameters != ParametersOn::device; }

    // Of `elements` that this rank owns, after `reduced`; returns the last copy. Sums of earlier micro-batches are kept
    // on the host in training precision: each later one fetches them, and all but the last store them again. The last
    // one stores fp32. Which of a bucket's gradients a rank owns is another matter for each rank: here it is an equal
    // share of every bucket.
    ActionId store_gradients(Script& script, double elements, Where where, ActionId reduced) const {
        const bool once = where.micro_batch == Where::whole_step;  // ZeRO-1 adds up on the device
        const bool first = once || where.micro_batch == 0, last = once || where.micro_batch + 1 == input_.micro_batches;
        ActionId ready = reduced;
        if (!first) ready = script.load("fetch gradients", time(elements * input_.element_bytes), where, ready);
        const double bytes = last ? fp32_bytes : input_.element_bytes;
        return script.store("offload gradients", time(elements * bytes), where, ready);
    }

    // The host's master copy in fp32, cast on the device, before it is gathered. Under ZeRO-3 the host casts
    // (_reassign_or_swap_out_partitioned_parameters).
    void load_parameters(Script& script, double elements) const {
        const double bytes = input_.zero == 3 ? input_.element_bytes : fp32_bytes;
        script.wait(script.load("fetch parameters", time(elements * bytes), {}, script.now()));
    }

    // Of a rank's shards that ZeRO-3 keeps off the device (partition_parameters.py, _all_gather_dtype: ds_tensor.to),
    // before they are gathered; from drives through the host's buffers, as fast as the slower of both
    // (ZeRO-Infinity, Rajbhandari et al. 2021, 2104.07857). Returns the copy.
    ActionId fetch_shards(Script& script, double elements, Where where) const {
        const Bytes bytes{elements * input_.element_bytes};
        Seconds duration = bytes / input_.host_link;
        if (input_.deepspeed.parameters == ParametersOn::nvme)
            duration = std::max(duration, bytes / input_.drives_read);
        return script.load("fetch parameters", duration, where, script.now());
    }
    // Back, where the device has updated them.
    void store_parameters(Script& script, double elements) const {
        script.wait(script.store("offload parameters", time(elements * input_.element_bytes), {}, script.now()));
    }

  private:
    static constexpr double fp32_bytes = 4;
    Seconds time(double bytes) const { return Bytes{bytes} / input_.host_link; }

    ShardingInput input_;
};

}  // namespace weft
