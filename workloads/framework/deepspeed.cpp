// GPT-NeoX (commit 4bc6670) on DeepSpeed 0.14.0: the calls as their sources issue them (stage_1_and_2.py, engine.py,
// pipe/engine.py, pipe/schedule.py; megatron/mpu).
#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "workloads/framework/calls.hpp"
#include "workloads/framework/stage_split.hpp"
#include "workloads/job.hpp"

namespace weft::framework {
namespace {

constexpr double default_bucket = 5e8;  // elements, reduce_bucket_size and the stage-0 all-reduce limit

// The boolean mask [1, 1, s, s] travels cast to half precision: 2 s^2 bytes, 8 MiB at s = 2048.
Bytes attention_mask(const Job& job) { return {2.0 * job.batch.sequence * job.batch.sequence}; }

bool partitioned(const Job& job) { return job.layout.tensor > 1; }  // pipe_partitioned and grad_partitioned defaults

// What precedes a partitioned tensor, every micro-batch: int64 type, sizes and the t partition offsets.
Call partition_meta(const Job& job) { return boundary_call({8.0 * (7 + job.layout.tensor)}, "partition meta"); }

constexpr std::uint32_t most_layers = 2048;  // its partition takes time with the square of the layers

std::vector<std::uint32_t> split(std::uint32_t layers, std::uint32_t stages, std::string& why) {
    if (layers > most_layers) {
        why = fmt::format("more than {} layers ({}) are only split evenly (layout.split)", most_layers, layers);
        return {};
    }
    if (stages > layers + 2) {
        why = fmt::format("{} layers and 2 reshapes cannot be dealt to {} pipeline stages", layers, stages);
        return {};
    }
    return neox_split(layers, stages);
}

void check(const Job& job, std::vector<JobError>& errors) {
    if (job.gradient_overlap == Overlap::on && job.layout.pipeline > 1) {
        errors.push_back({"overlap_gradients",
                          "DeepSpeed's pipeline engine reduces gradients after the last backward; "
                          "overlap needs pipeline 1"});
    }
    if (job.gradient_overlap == Overlap::on && job.zero == 0) {
        errors.push_back(
            {"overlap_gradients", "DeepSpeed stage 0 reduces after the backward pass; overlap needs zero 1"});
    }
}

// The parallel (GPT-J) residual adds attention and MLP before one reduction.
std::uint32_t forward_reductions(const Job& job) { return job.model.parallel_residual ? 1 : 2; }

std::vector<Call> load_batch(const Job& job, std::uint32_t) {
    if (job.layout.tensor == 1) return {};
    const Bytes tokens{8.0 * job.batch.micro * (job.batch.sequence + 1.0)};
    return {{Collective::broadcast, GroupKind::tensor, 32_B, "broadcast batch shape"},
            {Collective::broadcast, GroupKind::tensor, tokens, "broadcast tokens"}};
}

std::vector<Call> send_activation(const Job& job) {
    if (!partitioned(job))
        return {boundary_call(hidden_state(job), "activation"), boundary_call(attention_mask(job), "mask")};
    return {partition_meta(job), boundary_call(hidden_state(job) / job.layout.tensor, "activation"),
            boundary_call(attention_mask(job), "mask")};
}

std::vector<Call> send_gradient(const Job& job) {
    if (!partitioned(job)) return {boundary_call(hidden_state(job), "gradient")};
    return {partition_meta(job), boundary_call(hidden_state(job) / job.layout.tensor, "gradient")};
}

std::vector<Call> gather_received_activation(const Job& job) {
    if (!partitioned(job)) return {};
    return {{Collective::all_gather, GroupKind::tensor, hidden_state(job), "all-gather activation"}};
}

std::vector<Call> gather_before_backward(const Job& job) {
    if (!partitioned(job)) return {};
    return {{Collective::all_gather, GroupKind::tensor, hidden_state(job), "all-gather output"},
            {Collective::all_gather, GroupKind::tensor, hidden_state(job), "all-gather gradient"}};
}

// Stage 0: gradients in forward order; a bucket is flushed once it exceeds the limit, after the whole backward pass.
std::vector<Bucket> buckets_after_backward(double limit, std::span<const GradientPart> parts) {
    std::vector<Bucket> buckets;
    double filled = 0;
    for (std::size_t i = parts.size(); i-- > 0;) {
        for (const std::uint64_t elements : parts[i].tensors) {
            filled += double(elements);
            if (filled > limit) {
                buckets.push_back({filled, parts.size() - 1});
                filled = 0;
            }
        }
    }
    if (filled > 0) buckets.push_back({filled, parts.size() - 1});
    return buckets;
}

// ZeRO-1: gradients in backward order; a bucket is reduced before a tensor that would overfill it is added.
std::vector<Bucket> buckets_in_backward(double limit, std::span<const GradientPart> parts) {
    std::vector<Bucket> buckets;
    double filled = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        for (auto it = parts[i].tensors.rbegin(); it != parts[i].tensors.rend(); ++it) {
            if (filled > 0 && filled + double(*it) > limit) {
                buckets.push_back({filled, i});
                filled = 0;
            }
            filled += double(*it);
        }
    }
    if (filled > 0) buckets.push_back({filled, parts.size() - 1});
    return buckets;
}

double bucket_limit(const Job& job) { return job.bucket_elements > 0 ? job.bucket_elements : default_bucket; }

std::vector<Bucket> buckets(const Job& job, std::uint32_t, std::span<const GradientPart> parts) {
    return job.zero == 0 ? buckets_after_backward(bucket_limit(job), parts)
                         : buckets_in_backward(bucket_limit(job), parts);
}

// ZeRO-1 slices the bucket by owner and all-reduces it whole (use_multi_rank_bucket_allreduce, default since 2023).
Call reduce_bucket(const Job& job, double elements) {
    return {Collective::all_reduce, GroupKind::data, {elements * element_bytes(job.precision)}, "all-reduce gradients"};
}

// bf16 runs under DeepSpeed's BF16_Optimizer, which shards its states like ZeRO-1 at any stage.
bool shards_optimizer(const Job& job) { return job.zero >= 1 || job.precision == Precision::bf16; }

std::vector<Call> before_optimizer(const Job& job) {
    std::vector<Call> calls;
    const bool model_group = job.layout.tensor * job.layout.pipeline > 1;
    const auto over = [&](GroupKind group, Bytes bytes, std::string_view label) {
        calls.push_back({Collective::all_reduce, group, bytes, label});
    };
    if (job.zero >= 1) over(GroupKind::data, 1_B, "all-reduce overflow");
    if (model_group) over(GroupKind::model, 1_B, "all-reduce overflow");
    const int norms = job.zero >= 1 ? 2 : 1;  // NeoX has two optimizer groups: with and without weight decay
    for (int i = 0; i < norms; ++i) {
        if (job.zero >= 1) over(GroupKind::data, 4_B, "all-reduce gradient norm");
        if (model_group) over(GroupKind::model, 4_B, "all-reduce gradient norm");
    }
    return calls;
}

std::vector<Call> after_optimizer(const Job& job, double matrices, double vectors) {
    std::vector<Call> calls;
    if (!shards_optimizer(job) || job.layout.data == 1) return calls;
    const double multiple = 2.0 * job.layout.data;  // each flat group is padded to a multiple of 2 d
    for (const double elements : {matrices, vectors}) {
        if (elements == 0) continue;
        const double padded = std::ceil(elements / multiple) * multiple;
        calls.push_back({Collective::all_gather,
                         GroupKind::data,
                         {padded * element_bytes(job.precision)},
                         "all-gather parameters"});
    }
    return calls;
}

// The contiguous gradient bucket, twice when reduction overlaps the backward pass.
Bytes bucket_memory(const Job& job, double elements) {
    const double held = std::min(bucket_limit(job), elements) * element_bytes(job.precision);
    return {job.gradient_overlap == Overlap::on ? 2 * held : held};
}

}  // namespace

extern const Framework deepspeed;
const Framework deepspeed{
    .name = "deepspeed",
    .handover = Handover::sequential,
    .split = split,
    .check = check,
    .forward_reductions = forward_reductions,
    .reduces_under_weight_gradient = false,
    .load_batch = load_batch,
    .embedding_forward = embedding_reduction,
    .head_forward = loss_reductions,
    .head_backward = head_gradient_reduction,
    .send_activation = send_activation,
    .send_gradient = send_gradient,
    .gather_received_activation = gather_received_activation,
    .gather_before_backward = gather_before_backward,
    .buckets = buckets,
    .reduce_bucket = reduce_bucket,
    .shards_optimizer = shards_optimizer,
    .before_reduction = tied_embedding_reduction,
    .before_optimizer = before_optimizer,
    .after_optimizer = after_optimizer,
    .bucket_memory = bucket_memory,
    .gradient_bytes = accumulated_gradient_bytes,
};

}  // namespace weft::framework
