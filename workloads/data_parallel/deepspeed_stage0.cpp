// DeepSpeed 0.14.0 without ZeRO (runtime/engine.py buffered_allreduce_fallback; fp16/fused_optimizer.py): once the last
// backward pass is over, gradients are all-reduced in forward order, in buckets that are flushed when they exceed
// a limit that no setting changes (MEMORY_OPT_ALLREDUCE_SIZE). Nothing overlaps.
//
// With bf16 the optimizer is BF16_Optimizer (runtime/bf16_optimizer.py): it reduces as above, in the type of the
// parameters, looks for no overflow, and shards its states as ZeRO-1 does, so that parameters are gathered afterwards.
#include "workloads/data_parallel/data_parallel.hpp"
#include "workloads/data_parallel/deepspeed_calls.hpp"

namespace weft {
namespace {

class DeepSpeedStage0 final : public DataParallel {
  public:
    explicit DeepSpeedStage0(const ShardingInput& input) : input_(input) {}

    void start_up(Script& script) override { broadcast_parameters(script, input_); }

    bool idle(const PassAt&) const override { return true; }

    void finish_gradients(Script& script) override {
        reduce_tied_embedding(script, input_, Through::deepspeed);
        for (const RankGroups group : reducing_groups()) {
            double filled = 0;
            for (const StageTensor& tensor : stage_tensors(input_.modules)) {
                if (group_of(tensor) != group) continue;
                filled += static_cast<double>(tensor.elements);
                if (filled <= deepspeed_bucket_elements) continue;
                reduce(script, group, filled);
                filled = 0;
            }
            if (filled > 0) reduce(script, group, filled);
        }
    }

    void before_optimizer(Script& script) override {
        if (input_.loss_scaling == LossScaling::dynamic) all_reduce_overflow(script, part_axes());
        all_reduce_gradient_norm(script, part_axes());
    }

    void after_optimizer(Script& script) override {
        if (input_.element_type == "bf16") gather_updated_parameters(script, input_);
    }

  private:
    void reduce(Script& script, RankGroups group, double elements) const {
        script.call(deepspeed_call(Collective::all_reduce, group, elements * input_.element_bytes,
                                   "all-reduce gradients", input_.element_type),
                    {});
    }

    ShardingInput input_;
};

}  // namespace

std::unique_ptr<DataParallel> make_deepspeed_stage0(const ShardingInput& input) {
    return std::make_unique<DeepSpeedStage0>(input);
}

}  // namespace weft
