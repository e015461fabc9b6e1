// Megatron-core 0.8.0: DistributedDataParallel (zero 0) or the distributed optimizer (zero 1). Gradients live in flat
// buffers; a bucket is all-reduced, or reduce-scattered, when its last gradient of the last micro-batch is ready
// (overlap), or after the last backward (core/distributed). Updated parameters are gathered bucket by bucket after the
// step, or beside the next forward pass: each gather starts when the module that waited for the one before it begins
// (core/optimizer/distrib_optimizer.py).
#include <algorithm>

#include "workloads/data_parallel/data_parallel.hpp"

namespace weft {
namespace {

class MegatronDdp final : public DataParallel {
  public:
    explicit MegatronDdp(const ShardingInput& input)
        : input_(input),
          first_(first_tensors(input.modules)),
          tensors_(stage_tensors(input.modules)),
          buckets_(megatron_buckets(input)),
          bucket_of_(first_.back()),
          missing_(buckets_.size()),
          gathers_(buckets_.size(), Action::none),
          next_gather_(buckets_.size()) {
        for (std::size_t b = 0; b < buckets_.size(); ++b) {
            for (const std::size_t t : buckets_[b].tensors) bucket_of_[t] = b;
        }
        for (std::size_t b = buckets_.size(); b-- > 0;) gather_order_.push_back(b);
        // Buckets are in backward order within a chunk, chunks in forward order: forward needs the first chunk's first.
        std::stable_sort(gather_order_.begin(), gather_order_.end(),
                         [&](std::size_t a, std::size_t b) { return buckets_[a].chunk < buckets_[b].chunk; });
    }

    void begin_step(Script& script) override {
        for (std::size_t b = 0; b < buckets_.size(); ++b) missing_[b] = buckets_[b].tensors.size();
        if (!gathers_beside_forward()) return;
        std::fill(gathers_.begin(), gathers_.end(), Action::none);
        next_gather_ = 0;
        gather_next(script, {});
    }

    bool idle(const PassAt& at) const override {
        return at.pass == Pass::forward ? !gathers_beside_forward() || has_parameters(at.chunk) : !reduces(at);
    }

    void before(Script& script, const PassAt& at, std::size_t index) override {
        if (at.pass != Pass::forward || !gathers_beside_forward()) return;
        for (std::size_t t = first_[index]; t < first_[index + 1]; ++t) {
            if (tensors_[t].trained) finish_gather(script, bucket_of_[t], at.where);
        }
    }

    void after(Script& script, const PassAt& at, std::size_t index) override {
        if (at.pass != Pass::backward || !reduces(at)) return;
        for (std::size_t t = first_[index + 1]; t-- > first_[index];) {
            const std::size_t b = bucket_of_[t];
            if (!tensors_[t].trained || --missing_[b] > 0) continue;
            reductions_.push_back(script.issue(reduction(buckets_[b]), {.layer = at.where.layer}, script.now()));
        }
    }

    void finish_gradients(Script& script) override {
        script.finish(reductions_);
        if (input_.gradient_overlap == Setting::off) {
            for (const MegatronBucket& bucket : buckets_) script.call(reduction(bucket));
        }
        reduce_tied_embedding(script, input_, Through::torch);  // _allreduce_word_embedding_grads
    }

    // Both are single reductions over all ranks where the optimizer is distributed; here one over the ranks of a
    // replica and one over the replicas.
    void before_optimizer(Script& script) override {
        std::vector<RankGroups> groups{part_axes()};
        if (input_.zero > 0) groups.emplace_back(copy_axes());
        reduce_overflow_and_norm(script, input_, groups);
    }

    void after_optimizer(Script& script) override {
        if (input_.zero == 0 || input_.megatron.overlap_parameters == Setting::on) return;
        for (const std::size_t b : gather_order_) {
            if (ranks_of(input_, buckets_[b].group) > 1) script.call(gather(buckets_[b]));
        }
    }

  private:
    bool gathers_beside_forward() const { return input_.zero > 0 && input_.megatron.overlap_parameters == Setting::on; }

    // Beside a backward pass.
    bool reduces(const PassAt& at) const {
        return at.accumulation == Accumulation::complete && input_.gradient_overlap == Setting::on;
    }

    bool has_parameters(std::uint32_t chunk) const {
        for (std::size_t b = 0; b < buckets_.size(); ++b) {
            if (buckets_[b].chunk == chunk && !finished(b)) return false;
        }
        return true;
    }

    Call reduction(const MegatronBucket& bucket) const {
        // Muon's updates want the gradients of whole matrices (LayerWiseDistributedOptimizer, core 0.16).
        const bool whole = input_.zero == 0 || input_.optimizer.rule == UpdateRule::muon;
        return {whole ? Collective::all_reduce : Collective::reduce_scatter,
                bucket.group,
                {bucket.elements * input_.gradient_bytes},
                whole ? "all-reduce gradients" : "reduce-scatter gradients",
                input_.gradient_type};
    }

    // --fp8-param-gather: the matrices of layers are parameters in fp8 (core/fp8_utils.py), in buffers of their own;
    // here each bucket is gathered at its mean size per element.
    double gathered_bytes(const MegatronBucket& bucket) const {
        if (input_.megatron.eighth_parameters == Setting::off) return input_.element_bytes;
        double wide = 0, all = 0;
        for (const std::size_t t : bucket.tensors) {
            const auto elements = static_cast<double>(tensors_[t].elements);
            const StageModule& module = input_.modules[tensors_[t].module];
            all += elements;
            if (tensors_[t].vector || !has_narrow_products(module)) wide += elements;
        }
        return 1.0 + (input_.element_bytes - 1.0) * wide / all;
    }

    Call gather(const MegatronBucket& bucket) const {
        return {Collective::all_gather,
                bucket.group,
                {bucket.elements * gathered_bytes(bucket)},
                "all-gather parameters",
                input_.element_type};
    }

    // Issues the next gather that is not a formality among one rank.
    void gather_next(Script& script, Where where) {
        while (next_gather_ < gather_order_.size()) {
            const std::size_t b = gather_order_[next_gather_++];
            if (ranks_of(input_, buckets_[b].group) == 1) continue;
            gathers_[b] = script.issue(gather(buckets_[b]), {.layer = where.layer}, script.now());
            return;
        }
    }

    void finish_gather(Script& script, std::size_t bucket, Where where) {
        if (finished(bucket)) return;
        // Modules that run out of buffer order need several gathers at once.
        while (gathers_[bucket] == Action::none) gather_next(script, where);
        script.wait(gathers_[bucket]);
        gathers_[bucket] = done;
        gather_next(script, where);
    }

    bool finished(std::size_t bucket) const {
        return gathers_[bucket] == done || ranks_of(input_, buckets_[bucket].group) == 1;
    }

    static constexpr ActionId done = Action::none - 1;

    ShardingInput input_;
    std::vector<std::size_t> first_;
    std::vector<StageTensor> tensors_;
    std::vector<MegatronBucket> buckets_;
    std::vector<std::size_t> bucket_of_;     // of each tensor that is trained
    std::vector<std::size_t> missing_;       // of each bucket: tensors whose gradient is not ready
    std::vector<ActionId> reductions_;       // in flight
    std::vector<ActionId> gathers_;          // of each bucket: none before, `done` once waited for
    std::vector<std::size_t> gather_order_;  // buckets as forward needs them
    std::size_t next_gather_;                // index into gather_order_
};

}  // namespace

std::unique_ptr<DataParallel> make_megatron_ddp(const ShardingInput& input) {
    return std::make_unique<MegatronDdp>(input);
}

}  // namespace weft
