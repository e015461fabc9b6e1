// PyTorch's fully sharded data parallelism, one unit per transformer layer and one for the rest. Version 1
// (FullyShardedDataParallel, data_parallel/fsdp.cpp) is data parallelism alone. Version 2 (fully_shard,
// data_parallel/fully_shard.cpp) goes with tensor, context, expert and pipeline parallelism as torchtitan composes
// them: pytorch/torchtitan of 2025, models/llama3/infra/parallelize.py, models/llama4/infra/parallelize.py and
// distributed/pipeline_parallel.py, on torch.distributed.tensor and torch.distributed.pipelining of PyTorch 2.9. Data
// ranks are its dp_replicate x dp_shard; parameters are sharded over dp_shard x context. Its forward calls of tensor
// ranks are Megatron's under sequence parallelism; backward keeps the inputs of maps whole instead of gathering them
// again, and sums the gradients of norms one by one.
#include <fmt/format.h>

#include "workloads/data_parallel/data_parallel.hpp"
#include "workloads/data_parallel/fsdp_units.hpp"
#include "workloads/framework/framework.hpp"
#include "workloads/framework/refusals.hpp"
#include "workloads/job/job.hpp"
#include "workloads/layout/layout.hpp"

namespace weft::framework {
namespace {

// Ranks over which parameters are sharded.
std::uint32_t sharding_ranks(const Job& job) {
    const Layout& layout = job.layout;
    return is_hybrid(job.fsdp) ? layout.shard_ranks * (layout.copies() / layout.data) : layout.copies();
}

// What torchtitan composes with fully_shard, and what is not simulated of it.

// Data ranks that share parameters.
std::uint32_t data_shards(const Job& job) { return is_hybrid(job.fsdp) ? job.layout.shard_ranks : job.layout.data; }

void check_order_of_replicas(const Job& job, const Refusals& refuse) {
    std::string outermost;
    for (const std::string& axis : job.layout.order) {
        if (axis != "pipeline" && job.layout.size(axis) > 1) outermost = axis;
    }
    refuse.when(is_hybrid(job.fsdp) && outermost != "data" && job.layout.data > 1, "layout.order",
                "experts under hybrid sharding need a replica's ranks of a stage together, and so data as the "
                "outermost axis of a stage, not {}",
                outermost);
}

// torchtitan distributed/parallel_dims.py: the mesh of experts is dp_replicate x efsdp x ep x etp, with
// efsdp = dp_shard cp tp / (etp ep).
void check_shards_of_experts(const Job& job, const Refusals& refuse) {
    const Layout& layout = job.layout;
    if (!expert_layout_obstacle(layout).empty()) return;  // which every framework refuses
    const std::uint32_t inside = layout.ranks_of_stage() / layout.data * data_shards(job);
    const std::uint32_t group = layout.expert * layout.expert_tensor;
    if (inside % group != 0) {
        return refuse("layout.expert",
                      "expert {} x expert_tensor {} = {} does not divide the {} ranks of a replica's stage, tensor {} "
                      "x context {} x {} data ranks that share parameters; needs a divisor",
                      layout.expert, layout.expert_tensor, group, inside, layout.tensor, layout.context,
                      data_shards(job));
    }
    // Each expert is cut by its second dimension where there are fewer than ranks, which PyTorch pads only where it is
    // the first (torch/distributed/fsdp/_fully_shard/_fsdp_param.py, _init_sharded_param).
    const std::uint32_t shards = inside / group, experts = job.model.experts.count / layout.expert;
    const std::uint32_t units = job.model.experts.ffn_hidden / layout.expert_tensor, hidden = job.model.hidden;
    refuse.when(shards > experts && (units % shards != 0 || hidden % shards != 0), "layout.expert",
                "{} ranks that share {} experts cut each of them, and divide its {} units or its {} outputs unevenly; "
                "needs at most {} such ranks, or divisors of both",
                shards, experts, units, hidden, experts);
}

void check_experts(const Job& job, const Refusals& refuse) {
    const Layout& layout = job.layout;
    if (job.model.experts.count == 0) return;
    refuse.when(job.experts.capacity_factor > 0, "experts.capacity_factor",
                "torchtitan's experts take all tokens that come");
    refuse.when(layout.expert == 1 && layout.expert_tensor != layout.tensor, "layout.expert_tensor",
                "torchtitan cuts experts over the {} tensor ranks unless ranks share them; set it to {}, or "
                "layout.expert above 1",
                layout.tensor, layout.tensor);
    if (layout.expert == 1) return;
    if (job.fsdp.reshard == Reshard::over_few) {
        return refuse("layout.expert",
                      "experts that are resharded over fewer ranks are not simulated; expert parallelism under fsdp "
                      "needs fsdp.reshard_after_forward true or false");
    }
    check_order_of_replicas(job, refuse);
    check_shards_of_experts(job, refuse);
}

void check_resharding(const Job& job, const Refusals& refuse) {
    if (job.fsdp.reshard != Reshard::over_few) return;
    const std::uint32_t ranks = job.layout.copies(), few = job.fsdp.reshard_ranks;
    const std::uint32_t sharing = ranks / job.layout.data;
    if (is_hybrid(job.fsdp)) {
        return refuse("fsdp.reshard_after_forward",
                      "shards inside groups that are resharded over fewer ranks are not simulated");
    }
    refuse.when(few <= 1 || few >= ranks || ranks % few != 0 || few % sharing != 0, "fsdp.reshard_after_forward",
                "{} ranks are no part of the {} over which parameters are sharded, in multiples of the {} that share a "
                "sequence",
                few, ranks, sharing);
}

void check_composition(const Job& job, const Refusals& refuse) {
    const std::string_view key = job.schedule->key;
    refuse.when(job.layout.tensor > 1 && job.sequence_parallel == SequenceParallel::off, "sequence_parallel",
                "torchtitan's tensor parallelism shares tokens between maps");
    refuse.when(job.layout.context > 1 && job.context_method == ContextMethod::all_to_all, "context_method",
                "PyTorch's context parallelism passes keys and values on or gathers them; needs ring or all_gather");
    // Schedules of torch.distributed.pipelining that are simulated.
    refuse.when(key == "zb-h1" || key == "zb-h2", "schedule",
                "torch.distributed.pipelining has no {}; it has gpipe, 1f1b, interleaved and zb-v", key);
    refuse.when(job.layout.pipeline > 1 && job.model.tied_embeddings, "layout.pipeline",
                "torchtitan does not run a tied embedding in a pipeline");
    check_experts(job, refuse);
    check_resharding(job, refuse);
    refuse.when(job.gradient_overlap == Setting::off, "overlap_gradients",
                "fsdp always reduces gradients under the backward pass");
    refuse.when(job.fsdp.limit_all_gathers == Setting::off, "fsdp.limit_all_gathers",
                "fully_shard always limits its gathers");
    refuse.when(job.fsdp.backward_prefetch != BackwardPrefetch::before, "fsdp.backward_prefetch",
                "fully_shard prefetches before the gradients of a unit");
}

void check_fsdp(const Job& job, const Refusals& refuse) {
    const FsdpSettings& own = job.fsdp;
    const bool first = own.version == 1, hybrid = is_hybrid(own);
    first ? check_data_only(job, refuse) : check_composition(job, refuse);
    refuse.when(first && own.reshard != Reshard::by_strategy, "fsdp.reshard_after_forward",
                "version 1 says it by fsdp.strategy; needs fsdp.version 2");
    refuse.when(first && own.accumulate == Accumulate::round, "fsdp.accumulate_locally",
                "version 1 has no pipeline whose rounds would end; needs fsdp.version 2");
    refuse.when(job.layout.pipeline == 1 && job.schedule->key != plain_schedule, "schedule",
                "FSDP without a pipeline runs each micro-batch forward and backward in turn, not as {} orders them",
                job.schedule->key);
    refuse.when(job.zero != 0, "zero", "FSDP shards by fsdp.strategy, not by a ZeRO stage");
    refuse.when(job.bucket_elements > 0, "bucket_elements", "FSDP reduces one unit at a time and has no buckets");
    refuse.when(!hybrid && own.shard_ranks > 0, "fsdp.shard_ranks",
                "only hybrid strategies shard inside groups; the others over all ranks");
    refuse.when(hybrid && sharding_ranks(job) == 1 && job.layout.data > 1, "fsdp.shard_ranks",
                "hybrid sharding needs groups of 2 ranks or more, got 1 of data {}", job.layout.data);
    refuse.when(hybrid && job.layout.data % job.layout.shard_ranks != 0, "fsdp.shard_ranks",
                "{} ranks of a shard group do not divide data {}", job.layout.shard_ranks, job.layout.data);
}

std::unique_ptr<DataParallel> data_parallel(const ShardingInput& input) {
    return input.fsdp.version == 1 ? make_fsdp(input) : make_fully_shard(input);
}

StateShares shares(const Job& job) {
    const double ranks = sharding_ranks(job);
    if (job.fsdp.version == 1) {
        return {.parameters = keeps_parameters(job.fsdp) ? 1 : ranks,
                .gradients = job.fsdp.accumulate == Accumulate::step ? 1 : ranks,
                .optimizer = ranks};
    }
    const bool few = job.fsdp.reshard == Reshard::over_few;
    return {
        .parameters = few                                              ? job.fsdp.reshard_ranks
                      : reshards_layers(job.fsdp, job.layout.pipeline) ? ranks
                                                                       : 1,
        .gradients = gradient_ranks(accumulation_of(job.fsdp, job.layout.pipeline), job.pipeline_shape().chunks, ranks),
        .optimizer = ranks,
        .replicas = job.layout.copies() / ranks};
}

// Version 2 keeps parameters and the shards of gradients in fp32; whole gradients as they are reduced.
double gradient_bytes(const Job& job) {
    const double element = element_bytes(job.precision);
    if (job.fsdp.version == 1) return element;
    if (accumulation_of(job.fsdp, job.layout.pipeline) == Accumulate::never) return 4;
    return job.fsdp.reduce_bytes > 0 ? job.fsdp.reduce_bytes : element;
}

// Parameters and the shards of gradients are in fp32; a unit is cast as it is gathered, on one rank too. Version 2
// copies gradients into the buffer that it scatters; version 1 scatters the flat gradient, but for a cast.
// _fsdp_param_group.py (post_backward) frees the buffer when the next unit comes to reduce, and the root, which is not
// sharded again after forward (reshard_after_forward None), comes last.
PassingStates passing(const Job& job) {
    const bool first = job.fsdp.version == 1, few = job.fsdp.reshard == Reshard::over_few;
    const bool again = first ? !keeps_parameters(job.fsdp) : reshards_layers(job.fsdp, job.layout.pipeline);
    const double element = element_bytes(job.precision);
    const double reduced = job.fsdp.reduce_bytes > 0 ? job.fsdp.reduce_bytes : element;
    return {.gradients = first && job.fsdp.accumulate != Accumulate::step ? 4 : gradient_bytes(job),
            .resident = (again ? 0 : element) + (few ? element / job.fsdp.reshard_ranks : 0),
            .gathered = again ? element : 0,
            .root = element,
            .made = element,
            .reduced = first && reduced == element ? 0 : reduced};
}

// Gradients leave unsharded memory with every micro-batch, unless they are added up there.
Bytes sharded_accumulation(const Job& job) {
    const bool leave = job.fsdp.version == 1 ? job.fsdp.accumulate != Accumulate::step
                                             : accumulation_of(job.fsdp, job.layout.pipeline) == Accumulate::never;
    return leave ? Bytes{} : repeated_accumulation(job);
}

// torchtitan distributed/expert_parallel.py, _token_dispatch: how many tokens each rank sends to each expert.
std::vector<Call> expert_counts(const Job& job) {
    if (job.layout.expert == 1) return {};
    return {{Collective::all_to_all, {"expert"}, {8.0 * job.model.experts.count}, "all-to-all expert counts", "int64"}};
}

std::vector<Call> crossing(const Job& job, std::string_view label) {
    return {boundary_call(state_between_stages(job) / job.layout.tensor, label, element_name(job))};
}

// torchtitan distributed/pipeline_parallel.py, generate_llm_fqn_per_model_part: the embedding and the head weigh a
// layer each, and the first parts hold one more where they do not divide.
std::vector<std::uint32_t> split(std::uint32_t layers, std::uint32_t parts, std::string& why) {
    if (parts <= layers + 2) return neox_split(layers, parts);
    why = fmt::format("{} layers, embedding and head cannot be dealt to {} pipeline stages", layers, parts);
    return {};
}

// torchao's converters under torchtitan (components/quantization: float8, mx).
void lacking(const Job& job, const Refusals& lacks) {
    const bool known = job.recipe == Casting::tensorwise || job.recipe == Casting::mxfp8;
    lacks.when(job.names_recipe == Setting::on && !known, "fp8_recipe",
               "torchtitan has tensorwise scaling and mxfp8 (fp8_recipe)");
    lacks.when(job.precision == Precision::fp4, "precision", "products in fp4 are not in torchtitan");
}

}  // namespace

extern const Framework fsdp{
    .name = "fsdp",
    .summary = "PyTorch FSDP, one unit per layer; version 2 as torchtitan composes it",
    .offers = {.forwards_ahead = true, .weights_apart = true, .several_parts = true},
    .handover = Handover::paired,
    .map_inputs = MapInputs::kept,
    .norm_gradients = NormGradients::apart,
    .routing = TokenRouting::by_all,
    .context_calls = ContextCalls::torch,
    .modules = [](const Job&) { return Modules::pytorch_units; },
    .split = split,
    .check = check_fsdp,
    .lacking = lacking,
    // The norm of a rank's part of the logits, the target and the sum of exponentials
    // (torch/distributed/tensor/parallel/loss.py).
    .loss = loss_reductions,
    .expert_counts = expert_counts,
    .activation = [](const Job& job) { return crossing(job, "activation"); },
    .gradient = [](const Job& job) { return crossing(job, "gradient"); },
    .data_parallel = data_parallel,
    .shares = shares,
    .passing = passing,
    .fragmentation = 0.23,  // mean of 23 steps of version 2 on one H100, 0.09 to 0.39
    .gradient_bytes = gradient_bytes,
    .update_traffic = fused_update,
    .accumulation = sharded_accumulation,
};

}  // namespace weft::framework
