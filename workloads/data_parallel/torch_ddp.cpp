// torch.nn.parallel.DistributedDataParallel (torch/nn/parallel/distributed.py, csrc/distributed/c10d/reducer.cpp).
// Every parameter's gradient goes to a bucket; a bucket is all-reduced beside the backward pass once all its gradients
// are ready. In the first step there is a single bucket, because registration order need not be execution order
// (find_unused_parameters is off); after it, buckets are rebuilt in the order in which gradients became ready: the
// first closes at 1 MiB, the others at 25 MiB or more. Under gradient accumulation all micro-batches but the last run
// under no_sync.
//
// Assumption: within a module gradients become ready in reverse registration order.

#include "workloads/data_parallel/data_parallel.hpp"

namespace weft {
namespace {

constexpr double mebibyte = 1048576;
constexpr double broadcast_bytes = 250 * mebibyte;  // broadcast_bucket_size of _sync_module_states

class TorchDdp final : public DataParallel {
  public:
    explicit TorchDdp(const ShardingInput& input)
        : input_(input),
          tensors_(stage_tensors(input.modules)),
          first_(first_tensors(input.modules)),
          bucket_of_(tensors_.size()) {
        for (const RankGroups group : reducing_groups()) assign(group);
    }

    void start_up(Script& script) override {
        for (const RankGroups group : reducing_groups()) {
            double bytes = 0;
            for (const StageTensor& tensor : tensors_) {
                if (group_of(tensor) != group) continue;
                bytes += static_cast<double>(tensor.elements) * input_.element_bytes;
                if (bytes < broadcast_bytes) continue;
                broadcast(script, group, bytes);
                bytes = 0;
            }
            if (bytes > 0) broadcast(script, group, bytes);
        }
    }

    void begin_step(Script&) override {
        for (Bucket& bucket : buckets_) bucket.missing = bucket.tensors;
    }

    bool idle(const PassAt& at) const override { return !input_.autocast && !reduces(at); }

    // Autocast keeps copies of weights from forward to the end of its context.
    void before(Script& script, const PassAt& at, std::size_t index) override {
        if (at.pass == Pass::forward) cast(script, "cast weights", at, index, input_.element_bytes + 4);
    }

    void after(Script& script, const PassAt& at, std::size_t index) override {
        if (at.pass == Pass::backward) cast(script, "cast and scale gradients", at, index, input_.element_bytes + 12);
        if (!reduces(at)) return;
        for (std::size_t t = first_[index + 1]; t-- > first_[index];) {
            if (!tensors_[t].trained) continue;
            Bucket& bucket = buckets_[bucket_of_[t]];
            if (--bucket.missing > 0) continue;
            const Call call{
                Collective::all_reduce, bucket.group, {bucket.bytes}, "all-reduce gradients", input_.gradient_type};
            in_flight_.push_back(script.issue(call, {.layer = at.where.layer}, script.now()));
        }
    }

    void finish_gradients(Script& script) override {
        script.finish(in_flight_);
        reduce_tied_embedding(script, input_, Through::torch);
    }

  private:
    struct Bucket {
        RankGroups group{};
        double bytes = 0;
        std::size_t tensors = 0;
        std::size_t missing = 0;  // tensors whose gradient is not ready
    };

    static bool reduces(const PassAt& at) {
        return at.pass == Pass::backward && at.accumulation == Accumulation::complete;
    }

    void cast(Script& script, std::string_view label, const PassAt& at, std::size_t index, double bytes) const {
        if (!input_.autocast || input_.device == nullptr) return;
        double elements = 0;
        for (std::size_t t = first_[index]; t < first_[index + 1]; ++t) {
            if (at.pass == Pass::forward || tensors_[t].trained) elements += static_cast<double>(tensors_[t].elements);
        }
        script.compute(label, pass_time(*input_.device, {elements * bytes}, PassClass::element_wise), at.where);
    }

    // Closes a bucket once it holds at least its cap (compute_bucket_assignment_by_size). Experts are a module of their
    // own, with their own buckets.
    void assign(RankGroups group) {
        const double rest = input_.bucket_elements > 0 ? input_.bucket_elements * input_.gradient_bytes
                                                       : input_.ddp.bucket_mib * mebibyte;
        double cap = input_.ddp.first_bucket_mib * mebibyte;
        bool open = false;
        for (std::size_t t = tensors_.size(); t-- > 0;) {
            if (!tensors_[t].trained || group_of(tensors_[t]) != group) continue;
            if (!open) buckets_.push_back({.group = group});
            Bucket& bucket = buckets_.back();
            bucket.bytes += static_cast<double>(tensors_[t].elements) * input_.gradient_bytes;
            ++bucket.tensors;
            bucket_of_[t] = buckets_.size() - 1;
            open = input_.step == StepKind::first || bucket.bytes < cap;
            if (!open) cap = rest;
        }
    }

    void broadcast(Script& script, RankGroups group, double bytes) const {
        script.call({Collective::broadcast, group, {bytes}, "broadcast parameters", input_.element_type});
    }

    ShardingInput input_;
    std::vector<StageTensor> tensors_;
    std::vector<std::size_t> first_;
    std::vector<Bucket> buckets_;
    std::vector<std::size_t> bucket_of_;  // of each tensor that is trained
    std::vector<ActionId> in_flight_;
};

}  // namespace

std::unique_ptr<DataParallel> make_torch_ddp(const ShardingInput& input) { return std::make_unique<TorchDdp>(input); }

}  // namespace weft
