// Megatron-core 0.8: tensor, pipeline and data parallelism with DDP (zero 0) or the distributed optimizer (zero 1).
// As its sources have it (core/distributed, core/optimizer, core/pipeline_parallel, core/tensor_parallel).
#include <algorithm>

#include "workloads/framework/calls.hpp"
#include "workloads/framework/stage_split.hpp"
#include "workloads/job.hpp"

namespace weft::framework {
namespace {

void check(const Job&, std::vector<JobError>&) {}

std::uint32_t forward_reductions(const Job& job) { return job.model.parallel_residual ? 1 : 2; }

std::vector<Call> load_batch(const Job& job, std::uint32_t stage) {
    if (job.layout.tensor == 1) return {};
    const double tokens = double(job.batch.micro) * job.batch.sequence;
    std::vector<Call> calls;
    const auto broadcast = [&](double bytes, std::string_view label) {
        calls.push_back({Collective::broadcast, GroupKind::tensor, {bytes}, label});
    };
    if (stage == 0) {
        broadcast(8 * tokens, "broadcast tokens");
        broadcast(8 * tokens, "broadcast positions");
    }
    if (stage == job.layout.pipeline - 1) {
        broadcast(8 * tokens, "broadcast labels");
        broadcast(4 * tokens, "broadcast loss mask");
    }
    return calls;
}

std::vector<Call> send_activation(const Job& job) { return {boundary_call(hidden_state(job), "activation")}; }
std::vector<Call> send_gradient(const Job& job) { return {boundary_call(hidden_state(job), "gradient")}; }
std::vector<Call> nothing(const Job&) { return {}; }

double bucket_limit(const Job& job) {
    return job.bucket_elements > 0 ? job.bucket_elements : std::max(40e6, 1e6 * job.layout.data);
}

// Buckets in reverse parameter order, closed when full; only the first stage is bucketed, and only under overlap.
std::vector<Bucket> buckets(const Job& job, std::uint32_t stage, std::span<const GradientPart> parts) {
    const bool bucketed = job.gradient_overlap == Overlap::on && stage == 0;
    std::vector<Bucket> buckets;
    double filled = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        for (auto it = parts[i].tensors.rbegin(); it != parts[i].tensors.rend(); ++it) {
            filled += double(*it);
            if (bucketed && filled >= bucket_limit(job)) {
                buckets.push_back({filled, i});
                filled = 0;
            }
        }
    }
    if (filled > 0) buckets.push_back({filled, parts.size() - 1});
    return buckets;
}

Call reduce_bucket(const Job& job, double elements) {
    const Bytes message{elements * accumulated_gradient_bytes(job)};
    if (job.zero == 0) return {Collective::all_reduce, GroupKind::data, message, "all-reduce gradients"};
    return {Collective::reduce_scatter, GroupKind::data, message, "reduce-scatter gradients"};
}

bool shards_optimizer(const Job& job) { return job.zero >= 1; }

std::vector<Call> before_optimizer(const Job& job) {
    std::vector<Call> calls = tied_embedding_reduction(job);
    if (job.layout.tensor * job.layout.pipeline > 1) {
        if (job.precision == Precision::fp16) {
            calls.push_back({Collective::all_reduce, GroupKind::model, 4_B, "all-reduce overflow"});
        }
        calls.push_back({Collective::all_reduce, GroupKind::model, 4_B, "all-reduce gradient norm"});
    }
    if (job.zero >= 1) calls.push_back({Collective::all_reduce, GroupKind::data, 4_B, "all-reduce gradient norm"});
    return calls;
}

std::vector<Call> after_optimizer(const Job& job, double matrices, double vectors) {
    if (job.zero == 0 || job.layout.data == 1) return {};
    const Bytes message{(matrices + vectors) * element_bytes(job.precision)};
    return {{Collective::all_gather, GroupKind::data, message, "all-gather parameters"}};
}

Bytes bucket_memory(const Job&, double) { return {}; }  // gradients are reduced in place in one flat buffer

}  // namespace

extern const Framework megatron;
const Framework megatron{
    .name = "megatron",
    .handover = Handover::paired,
    .split = even_split,
    .check = check,
    .forward_reductions = forward_reductions,
    .reduces_under_weight_gradient = true,
    .load_batch = load_batch,
    .embedding_forward = embedding_reduction,
    .head_forward = loss_reductions,
    .head_backward = head_gradient_reduction,
    .send_activation = send_activation,
    .send_gradient = send_gradient,
    .gather_received_activation = nothing,
    .gather_before_backward = nothing,
    .buckets = buckets,
    .reduce_bucket = reduce_bucket,
    .shards_optimizer = shards_optimizer,
    .before_reduction = nothing,
    .before_optimizer = before_optimizer,
    .after_optimizer = after_optimizer,
    .bucket_memory = bucket_memory,
    .gradient_bytes = accumulated_gradient_bytes,
};

}  // namespace weft::framework
