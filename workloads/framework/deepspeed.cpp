// GPT-NeoX (commit 4bc6670) on DeepSpeed 0.14.0: the calls as their sources issue them (engine.py, pipe/engine.py,
// pipe/schedule.py, moe/sharded_moe.py; megatron/mpu). Data parallelism: data_parallel/deepspeed_*.cpp.
#include <fmt/format.h>

#include <algorithm>

#include "workloads/data_parallel/deepspeed_calls.hpp"
#include "workloads/framework/framework.hpp"
#include "workloads/framework/refusals.hpp"
#include "workloads/job/job.hpp"

namespace weft::framework {
namespace {

// The boolean mask [1, 1, s, s] travels cast to half precision: 2 s^2 bytes, 8 MiB at s = 2048.
Bytes attention_mask(const Job& job) { return {2.0 * job.batch.sequence * job.batch.sequence}; }

Call logged(Call call) {
    call.through = Through::deepspeed;
    return call;
}

Call over(Collective op, RankGroups group, Bytes message, std::string_view label, std::string_view type) {
    return logged({op, group, message, label, type});
}

Call boundary(Bytes message, std::string_view label, std::string_view type) {
    return logged(boundary_call(message, label, type));
}

bool cuts_activation(const Job& job) { return job.layout.tensor > 1 && is_on(job.deepspeed.pipe_partitioned); }
bool cuts_gradient(const Job& job) { return job.layout.tensor > 1 && is_on(job.deepspeed.grad_partitioned); }

// What precedes a partitioned tensor, every micro-batch: int64 type, sizes and the t partition offsets.
Call partition_meta(const Job& job) { return boundary({8.0 * (7 + job.layout.tensor)}, "partition meta", "int64"); }

std::vector<std::uint32_t> split(std::uint32_t layers, std::uint32_t parts, std::string& why) {
    if (parts > layers + 2) {
        why = fmt::format("{} layers and 2 reshapes cannot be dealt to {} pipeline stages", layers, parts);
        return {};
    }
    return neox_split(layers, parts);
}

// GPT-NeoX's configurations set overlap_comm; the pipeline engine, stage 0 and stage 1 of old versions cannot.
Setting default_overlap(const Job& job) {
    if (job.zero == 0 || job.layout.pipeline > 1) return Setting::off;
    return job.zero == 1 ? job.deepspeed.version.stage1_overlap : Setting::on;
}

// The pipeline engine runs pipe/schedule.py's TrainSchedule; ranks sit as PipeModelDataParallelTopology has them.
void lacking(const Job& job, const Refusals& lacks) {
    lacks.when(job.layout.pipeline > 1 && job.schedule->key != plain_schedule, "schedule",
               "{} is not in DeepSpeed, which runs {}", job.schedule->key, plain_schedule);
    lacks.when(!job.layout.is_ordered({"tensor", "context", "data", "pipeline"}), "layout.order",
               "this order of axes is not in DeepSpeed, which has tensor, data, pipeline");
    lacks.when(job.cuda_graphs != CudaGraphs::none, "cuda_graphs", "CUDA graphs are not in DeepSpeed's training");
    lacks.when(job.names_recipe == Setting::on || job.precision == Precision::fp4, "fp8_recipe",
               "recipes of narrow products are not in DeepSpeed's configuration");
}

// An all-reduce of two int64 over the model group, and one float between neighbours to set up their connection
// (pipe/engine.py, start of the pipeline engine).
std::vector<Call> start_up(const Job& job, std::uint32_t stage) {
    if (job.layout.pipeline == 1) return {};
    std::vector<Call> calls{over(Collective::all_reduce, part_axes(), 16_B, "all-reduce parameter counts", "int64")};
    const auto touch = [&](Direction direction, std::uint32_t peer, std::uint32_t port) {
        Call call = boundary(4_B, "connection", "fp32");
        call.direction = direction;
        call.peer = peer;
        call.port = port;
        calls.push_back(call);
    };
    if (stage > 0) touch(Direction::receive, stage - 1, 0);
    if (stage + 1 < job.layout.pipeline) touch(Direction::send, stage + 1, 0);
    const bool holds_copy = stage == 0 || stage + 1 == job.layout.pipeline;
    if (job.copies_embedding() && holds_copy) {  // pipe/module.py, _synchronize_tied_weights
        const Bytes matrix{double(job.embedding_matrix()) * element_bytes(job.precision)};
        calls.push_back(over(Collective::broadcast, RankGroups::embedding(), matrix, "broadcast tied embedding",
                             element_name(job)));
    }
    return calls;
}

std::vector<Call> load_batch(const Job& job, std::uint32_t) {
    if (job.layout.tensor == 1) return {};
    const Bytes tokens{8.0 * job.batch.micro * (job.batch.sequence + 1.0)};
    return {{Collective::broadcast, {"tensor"}, 32_B, "broadcast batch shape", "int64"},
            {Collective::broadcast, {"tensor"}, tokens, "broadcast tokens", "int64"}};
}

std::vector<Call> checkpoint_gather(const Job& job) {
    if (!shares_checkpoints(job)) return {};
    return {logged(gather_hidden(job, "all-gather checkpoint"))};
}

// Without a capacity all ranks agree on the largest number of tokens of an expert.
std::vector<Call> expert_counts(const Job& job) {
    if (job.experts.capacity_factor > 0) return {};
    return {over(Collective::all_reduce, copy_axes(), 8_B, "all-reduce expert capacity", "int64")};
}

std::vector<Call> crossing(const Job& job, bool cut, std::string_view label) {
    std::vector<Call> calls;
    if (cut) calls.push_back(partition_meta(job));
    calls.push_back(boundary(state_between_stages(job) / (cut ? job.layout.tensor : 1), label, element_name(job)));
    return calls;
}

std::vector<Call> activation(const Job& job) {
    std::vector<Call> calls = crossing(job, cuts_activation(job), "activation");
    if (is_on(job.deepspeed.attention_mask)) calls.push_back(boundary(attention_mask(job), "mask", "fp16"));
    return calls;
}

// int64 each: kind, count, then type, dimensions and shape of every tensor of the first activation.
std::vector<Call> shapes(const Job& job) {
    std::vector<Call> calls;
    const auto number = [&] { calls.push_back(boundary(8_B, "shape", "int64")); };
    const auto tensor = [&](double dimensions) {
        number();
        number();
        calls.push_back(boundary({8.0 * dimensions}, "shape", "int64"));
    };
    number();
    number();
    if (cuts_activation(job)) {
        tensor(1);  // the partition meta
        tensor(1);  // the flat shard
    } else {
        tensor(3);
    }
    if (is_on(job.deepspeed.attention_mask)) tensor(4);
    return calls;
}

std::vector<Call> gather_received_activation(const Job& job) {
    if (!cuts_activation(job)) return {};
    return {logged(gather_hidden(job, "all-gather activation"))};
}

std::vector<Call> gather_before_backward(const Job& job) {
    std::vector<Call> calls;
    if (cuts_activation(job)) calls.push_back(logged(gather_hidden(job, "all-gather output")));
    if (cuts_gradient(job)) calls.push_back(logged(gather_hidden(job, "all-gather gradient")));
    return calls;
}

// The last stage averages the loss over its data ranks; then every stage is told (pipe/engine.py).
std::vector<Call> step_end(const Job& job, std::uint32_t stage) {
    if (job.layout.pipeline == 1) return {};
    std::vector<Call> calls;
    if (stage + 1 == job.layout.pipeline) {
        calls.push_back(over(Collective::all_reduce, copy_axes(), 4_B, "all-reduce loss", "fp32"));
    }
    calls.push_back(over(Collective::broadcast, RankGroups{"pipeline"}, 8_B, "broadcast loss", "fp32"));
    return calls;
}

std::unique_ptr<DataParallel> data_parallel(const ShardingInput& input) {
    if (input.zero == 3) return make_deepspeed_zero3(input);
    if (input.zero == 0) return make_deepspeed_stage0(input);
    return make_deepspeed_zero12(input);
}

// Stage 0 in bf16 runs under BF16_Optimizer, which adds the gradients up in fp32 and shards its states like ZeRO-1.
bool bf16_optimizer(const Job& job) { return job.zero == 0 && job.precision == Precision::bf16; }

// Elsewhere gradients stay in the parameters' precision (engine.py, get_data_types).
double gradient_bytes(const Job& job) { return bf16_optimizer(job) ? 4.0 : element_bytes(job.precision); }

// Copies of the gradients that a rank updates, while it does. The flat half precision of all that it updates and then
// fp32 (stage_1_and_2.py, step); with contiguous_gradients another before (copy_grads_in_partition), which is ZeRO-2's
// share and which ZeRO-1 ignored as long as overlap_comm. ZeRO-3 and FP16_Optimizer, at stage 0, hold fp32 only
// (stage3.py, _prepare_fp32_grad_for_sub_group; fp16/fused_optimizer.py); BF16_Optimizer updates from the gradients.
double update_bytes(const Job& job) {
    const double element = element_bytes(job.precision), widened = element < 4 ? 4.0 : 0.0;
    if (bf16_optimizer(job)) return 0;
    // Of ZeRO-Offload the master copy in fp32, before it is cast (up to 0.17; ZeRO-3 has the host cast it).
    if (job.optimizer.leave_device()) return job.zero == 3 ? 0 : widened;
    const bool contiguous = job.zero == 1 && is_on(job.deepspeed.version.stage1_overlap);
    return widened + element * (contiguous ? 2 : job.zero == 1 || job.zero == 2 ? 1 : 0);
}

// Gradients are set to None after a step, but for the partitions that ZeRO-2 and ZeRO-3 keep.
StateShares shares(const Job& job) {
    const double ranks = job.layout.copies(), element = element_bytes(job.precision);
    StateShares shares{.update_bytes = update_bytes(job)};
    if (bf16_optimizer(job)) shares.passing_bytes = element;
    if (job.zero <= 1) shares.freed_bytes = element;
    if (job.zero >= 1 || bf16_optimizer(job)) shares.optimizer = ranks;
    if (job.zero >= 2) shares.gradients = ranks;
    if (job.zero >= 3) shares.parameters = ranks;
    return shares;
}

// The contiguous gradient bucket, twice when reduction overlaps the backward pass; BF16_Optimizer's is a flat copy in
// fp32 of 5e8 elements (pipe/engine.py, _bf16_reduce_grads). ZeRO-3 also keeps gathered parameters: at most max_live,
// and no more than there are; with hpZ a second share of the parameters, among the ranks of its group.
Bytes buffers(const Job& job, double parameters) {
    const double limit = job.bucket_elements > 0 ? job.bucket_elements : deepspeed_bucket_elements;
    const double element = gradient_bytes(job);
    Bytes held{std::min(limit, parameters) * element * (is_on(job.gradient_overlap) ? 2 : 1)};
    if (job.zero < 3) return held;
    held += Bytes{std::min(job.deepspeed.max_live_elements, parameters) * element};
    const std::uint32_t group = job.deepspeed.hierarchical_ranks;
    if (group > 1) held += Bytes{parameters / group * element};
    return held;
}

}  // namespace

extern const Framework deepspeed{
    .name = "deepspeed",
    .summary = "GPT-NeoX or Megatron-DeepSpeed on DeepSpeed",
    .offers = {.forwards_ahead = true},
    .exchanges = Through::deepspeed,
    .expert_gradients = ExpertGradients::apart,
    .modules = [](const Job&) { return Modules::megatron; },
    .split = split,
    .default_overlap = default_overlap,
    .check = check_deepspeed,
    .lacking = lacking,
    .start_up = start_up,
    .load_batch = load_batch,
    .loss = loss_reductions,
    .checkpoint_gather = checkpoint_gather,
    .expert_counts = expert_counts,
    .shapes = shapes,
    .activation = activation,
    .gradient = [](const Job& job) { return crossing(job, cuts_gradient(job), "gradient"); },
    .gather_received_activation = gather_received_activation,
    .gather_before_backward = gather_before_backward,
    .step_end = step_end,
    .data_parallel = data_parallel,
    .shares = shares,
    .buffers = buffers,
    .gradient_bytes = gradient_bytes,
    .update_traffic = mixed_precision_update,
    .accumulation = repeated_accumulation,
};

}  // namespace weft::framework
