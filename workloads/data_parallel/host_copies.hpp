// ZeRO-Offload (Ren et al. 2021, 2101.06840; DeepSpeed 0.14 runtime/zero/stage_1_and_2.py, copy_grads_in_partition, and
// stage3.py, partition_grads): what a rank owns of the gradients goes to its host as it is reduced, and the parameters
// that the host has updated come back.
#pragma once

#include "workloads/data_parallel/sharding_input.hpp"

namespace weft {

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
    // before they are gathered; from drives through the host's buffers, as fast as the slower of both ways
    // (ZeRO-Infinity, Rajbhandari et al. 2021, 2104.07857). Returns the copy.
    ActionId fetch_shards(Script& script, double elements, Where where) const;
    // Back, where the device has updated them.
    void store_parameters(Script& script, double elements) const;

  private:
    Seconds time(double bytes) const { return Bytes{bytes} / input_.host_link; }

    ShardingInput input_;
};

}  // namespace weft
