// The gradient reductions of ZeRO-3 and ZeRO++: one reduce-scatter a bucket, or quantised exchanges tensor by tensor.
#pragma once

#include <vector>

#include "workloads/data_parallel/contiguous_bucket.hpp"
#include "workloads/data_parallel/host_copies.hpp"
#include "workloads/data_parallel/stage_tensors.hpp"

namespace weft {

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

}  // namespace weft
