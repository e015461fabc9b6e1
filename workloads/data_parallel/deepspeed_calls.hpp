// What DeepSpeed's optimizers share: start-up broadcasts, optimizer groups, small reductions around the step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "workloads/data_parallel/data_parallel.hpp"
#include "workloads/data_parallel/stage_tensors.hpp"

namespace weft {

inline constexpr double deepspeed_bucket_elements = 5e8;  // reduce_bucket_size, and the limit of stage 0's all-reduces

inline double deepspeed_bucket(const ShardingInput& input) {
    return input.bucket_elements > 0 ? input.bucket_elements : deepspeed_bucket_elements;
}

// A call through deepspeed.comm, which its logger sees.
Call deepspeed_call(Collective op, RankGroups group, double bytes, std::string_view label, std::string_view type);

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

void all_reduce_overflow(Script& script, RankGroups group);       // one byte: whether any gradient is infinite
void all_reduce_gradient_norm(Script& script, RankGroups group);  // a float: the sum of squares

// The contiguous gradient bucket of DeepSpeed's ZeRO optimizers: reduced before a tensor that would overfill it is
// added. A tensor larger than the bucket is reduced alone.

class ContiguousBucket {
  public:
    explicit ContiguousBucket(double limit) : limit_(limit) {}

    bool empty() const { return tensors_.empty(); }
    bool overfilled_by(double elements) const { return filled_ > 0 && filled_ + elements > limit_; }
    double limit() const { return limit_; }    // elements
    double filled() const { return filled_; }  // elements
    const std::vector<std::size_t>& tensors() const { return tensors_; }

    void add(std::size_t tensor, double elements) {
        tensors_.push_back(tensor);
        filled_ += elements;
    }
    void clear() {
        tensors_.clear();
        filled_ = 0;
    }

  private:
    double limit_;
    double filled_ = 0;
    std::vector<std::size_t> tensors_;
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
    ActionId store_gradients(Script& script, double elements, Where where, ActionId reduced) const;

    // The host's master copy in fp32, cast on the device, before it is gathered. Under ZeRO-3 the host casts
    // (_reassign_or_swap_out_partitioned_parameters).
    void load_parameters(Script& script, double elements) const;

    // Of a rank's shards that ZeRO-3 keeps off the device (partition_parameters.py, _all_gather_dtype: ds_tensor.to),
    // before they are gathered; from drives through the host's buffers, as fast as the slower of both
    // (ZeRO-Infinity, Rajbhandari et al. 2021, 2104.07857). Returns the copy.
    ActionId fetch_shards(Script& script, double elements, Where where) const;
    // Back, where the device has updated them.
    void store_parameters(Script& script, double elements) const;

  private:
    Seconds time(double bytes) const { return Bytes{bytes} / input_.host_link; }

    ShardingInput input_;
};

}  // namespace weft
