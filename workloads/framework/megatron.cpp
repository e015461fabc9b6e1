// Megatron-core 0.8: tensor, sequence, context, expert, pipeline and data parallelism with DDP (zero 0) or the
// distributed optimizer (zero 1). As its sources have it (core/pipeline_parallel, core/tensor_parallel,
// core/transformer/moe, core/distributed/finalize_model_grads.py). Data parallelism: data_parallel/megatron_ddp.cpp.

#include <algorithm>

#include "workloads/data_parallel/data_parallel.hpp"
#include "workloads/data_parallel/fsdp_units.hpp"
#include "workloads/framework/framework.hpp"
#include "workloads/framework/refusals.hpp"
#include "workloads/job/job.hpp"

namespace weft::framework {
namespace {

// --use-custom-fsdp came with Megatron-core 0.12 and is Megatron-FSDP since 0.14.
void check_sharding(const Job& job, const Refusals& refuse) {
    constexpr std::string_view key = "megatron.sharding";
    if (job.megatron.sharding == MegatronSharding::none) {
        return refuse.when(job.megatron.accumulate != Accumulate::never, "megatron.accumulate_locally",
                           "gradients that data ranks do not share are always summed whole; needs megatron.sharding");
    }
    refuse.when(!has_since(job.megatron.version, "core-0.12"), key,
                "Megatron-core has it since 0.12; the version is {}", job.megatron.version.name);
    refuse.when(job.zero != 1 || job.gradient_overlap == Setting::off, key,
                "Megatron-FSDP needs the distributed optimizer (zero 1) and overlap_gradients");
    refuse.when(job.schedule->copies > 1 || job.copies_embedding(), key,
                "states that data ranks share cannot be those of two stages");
    refuse.when(job.bucket_elements > 0, key, "Megatron-FSDP reduces one layer at a time and has no buckets");
}

void check_megatron(const Job& job, const Refusals& refuse) {
    const MegatronSettings& own = job.megatron;
    const bool overlaps = job.gradient_overlap == Setting::on,
               own_tokens = job.sequence_parallel == SequenceParallel::on;
    refuse.when(job.bucket_elements > 0 && !overlaps, "bucket_elements",
                "Megatron-core cuts gradients into buckets only with overlap_gradients; without, a buffer is reduced "
                "whole");
    refuse.when(overlaps && job.schedule->copies > 1, "overlap_gradients",
                "the two copies of {} sum their gradients before data ranks do, so that no reduction overlaps the "
                "backward pass",
                job.schedule->key);
    check_sharding(job, refuse);
    // arguments.py and transformer_config.py
    refuse.when(
        own.distribute_saved_activations == Setting::on &&
            (job.layout.tensor == 1 || own_tokens || job.recompute.granularity != Recompute::full),
        "megatron.distribute_saved_activations",
        "shares among tensor ranks what full recomputation keeps whole: needs tensor 2 or more, recompute full and "
        "no sequence_parallel");
    // Transformer Engine's user buffers exchange the shares of the tokens (megatron/training/arguments.py).
    refuse.when(own.overlap_tensor == Setting::on && !own_tokens, "megatron.overlap_tensor",
                "tensor ranks exchange under their products only what sequence parallelism gathers and scatters; set "
                "sequence_parallel");
    refuse.when(job.zero > 1, "zero",
                "Megatron-core has DDP (0) and the distributed optimizer (1), not ZeRO-{}; megatron.sharding shares "
                "gradients and parameters",
                job.zero);
    refuse.when(job.model.experts.count > 0 && job.layout.tensor > 1 && !own_tokens, "sequence_parallel",
                "Megatron-core routes tokens to experts only under sequence parallelism when tensor is {}; set "
                "sequence_parallel",
                job.layout.tensor);
    refuse.when(own.overlap_parameters == Setting::on && job.zero != 1, "megatron.overlap_parameters",
                "parameters are gathered by the distributed optimizer; needs zero 1");
    const bool eighth = own.eighth_parameters == Setting::on;
    refuse.when(eighth && (job.precision != Precision::fp8 || job.zero != 1), "megatron.fp8_parameters",
                "the distributed optimizer (zero 1) gathers parameters in fp8, for products in fp8 (precision)");
    refuse.when(eighth && !has_since(own.version, "core-0.9"), "megatron.fp8_parameters",
                "--fp8-param-gather came with core-0.9; megatron.version is {}", own.version.name);
    const bool output = own.eighth_output == Setting::on;
    refuse.when(output && (job.precision != Precision::fp8 || job.recipe != Casting::mxfp8), "megatron.fp8_output",
                "the output layer's products are in fp8 only where all are (precision), by blocks of 32 (fp8_recipe "
                "mxfp8)");
    refuse.when(output && !has_since(own.version, "core-0.18"), "megatron.fp8_output",
                "--fp8-output-proj came with core-0.18; megatron.version is {}", own.version.name);
    const bool narrow = is_narrow(job.precision) && job.recipe != Casting::blockwise;
    refuse.when(own.eighth_attention == Setting::on &&
                    (!narrow || job.attention != AttentionCore::cudnn || job.layout.context > 1),
                "megatron.fp8_attention",
                "attention is in 8 bits where other products are (precision), but for fp8_recipe blockwise, by cuDNN "
                "(attention) and without context ranks, whose calls in 8 bits are not known here");
    refuse.when(job.experts.paged_stash == Setting::on && !fuses_experts(job), "experts.paged_stash",
                "the stash is of Transformer Engine's one operation for experts, which is in MXFP8 (fp8_recipe mxfp8), "
                "fed by HybridEP (experts.dispatcher hybridep) and run under graphs of the whole pass (cuda_graphs "
                "full)");
    refuse.when(own.overlap_parameters == Setting::on && !overlaps, "megatron.overlap_parameters",
                "Megatron-core gathers under the forward pass only with overlap_gradients");
}

InputReduction input_reduction(const Job& job) {
    return job.megatron.overlap_input_reduction == Setting::on ? InputReduction::under_weight_gradient
                                                               : InputReduction::after_backward;
}

Modules modules(const Job& job) {
    return job.megatron.transformer_engine == Setting::on ? Modules::transformer_engine : Modules::megatron;
}

std::vector<Call> load_batch(const Job& job, std::uint32_t stage) {
    if (job.layout.tensor == 1) return {};
    const double tokens = double(job.batch.micro) * job.batch.sequence;
    std::vector<Call> calls;
    const auto broadcast = [&](double bytes, std::string_view label, std::string_view type) {
        calls.push_back({Collective::broadcast, {"tensor"}, {bytes}, label, type});
    };
    if (stage == 0) {
        broadcast(8 * tokens, "broadcast tokens", "int64");
        broadcast(8 * tokens, "broadcast positions", "int64");
    }
    if (stage == job.layout.pipeline - 1) {
        broadcast(8 * tokens, "broadcast labels", "int64");
        broadcast(4 * tokens, "broadcast loss mask", "fp32");
    }
    return calls;
}

// Of the hidden state, where tensor ranks have shares of it.
std::vector<Call> gather_if(bool shared, const Job& job, std::string_view label) {
    return shared ? std::vector{gather_hidden(job, label)} : std::vector<Call>{};
}

// What is logged, averaged over the data ranks (pretrain_gpt.py): the loss and its tokens.
Call average_loss() { return {Collective::all_reduce, copy_axes(), 8_B, "all-reduce loss", "fp32"}; }

// Fused: the target logit and the sum of exponentials travel together.
std::vector<Call> loss(const Job& job) {
    std::vector<Call> calls = loss_reductions(job);
    if (job.megatron.fused_cross_entropy == Setting::on && !calls.empty()) {
        calls.pop_back();
        calls.back().message = calls.back().message * 2;
        calls.back().label = "all-reduce target logit and loss sum";
    }
    if (job.megatron.version.losses_per_micro_batch == Setting::on) calls.push_back(average_loss());
    return calls;
}

std::vector<Call> step_end(const Job& job, std::uint32_t stage) {
    const bool logs = stage + 1 == job.layout.pipeline;
    if (!logs || job.megatron.version.losses_per_micro_batch == Setting::on) return {};
    return {average_loss()};
}

// Every rank of the group learns how many tokens each has for each expert; other dispatchers find out by themselves.
std::vector<Call> expert_counts(const Job& job) {
    if (job.layout.expert == 1 || job.experts.dispatcher != Dispatch::all_to_all) return {};
    return {{Collective::all_gather,
             {"expert"},
             {8.0 * job.model.experts.count * job.layout.expert},
             "all-gather expert counts",
             "int64"}};
}

// The stages of Megatron-LM before 2023 send a tensor rank's share of what all of them hold and gather it on the other
// side (Narayanan et al. 2104.04473, section 4.1).
bool scatters_boundaries(const Job& job) {
    return job.layout.tensor > 1 && job.sequence_parallel == SequenceParallel::off &&
           job.megatron.overlap_pipeline == Setting::off;
}

std::vector<Call> crossing(const Job& job, std::string_view label) {
    std::vector<Call> calls;
    // Tensors differ in size where prediction modules stand apart (p2p_communication.py, mtp_standalone).
    if (job.megatron.variable_sequence == Setting::on || job.predicts_apart())
        calls.push_back(boundary_call(24_B, "shape", "int64"));
    const bool own_share = job.sequence_parallel == SequenceParallel::on || scatters_boundaries(job);
    calls.push_back(
        boundary_call(state_between_stages(job) / (own_share ? job.layout.tensor : 1), label, element_name(job)));
    return calls;
}

std::unique_ptr<DataParallel> data_parallel(const ShardingInput& input) {
    if (input.megatron.sharding == MegatronSharding::none) return make_megatron_ddp(input);
    ShardingInput sharded = input;
    const bool parameters = input.megatron.sharding == MegatronSharding::parameters;
    sharded.fsdp = {.version = 1,
                    .strategy = parameters ? Sharding::full : Sharding::gradients,
                    .forward_prefetch = Setting::on,
                    .reduce_bytes = input.gradient_bytes,
                    .accumulate = input.megatron.accumulate,
                    .reshard = parameters ? Reshard::always : Reshard::never};
    sharded.device = nullptr;
    return make_fully_shard(sharded);
}

StateShares shares(const Job& job) {
    StateShares shares;
    if (job.zero >= 1) shares.optimizer = job.layout.copies();
    if (job.megatron.sharding == MegatronSharding::none) return shares;
    const double ranks = job.layout.copies();
    if (job.megatron.sharding == MegatronSharding::parameters) shares.parameters = ranks;
    shares.gradients = gradient_ranks(job.megatron.accumulate, job.pipeline_shape().chunks, ranks);
    return shares;
}

// Gradients are reduced in place in the flat buffer in which they are summed; where that holds nothing but shards, in
// buffers of two layers in turn. Parameters that are shared are gathered for as many.
Bytes buffers(const Job& job, double) {
    if (job.megatron.sharding == MegatronSharding::none) return {};
    double layer = 0;
    for (std::uint32_t i = 0; i < job.model.layers; ++i) {
        layer = std::max(layer, double(layer_parameters(job.model, layer_kind(job.model, i), job.split())));
    }
    const double gradients = job.megatron.accumulate == Accumulate::never ? job.framework->gradient_bytes(job) : 0.0;
    const bool gathers = job.megatron.sharding == MegatronSharding::parameters;
    return {2 * layer * (gradients + (gathers ? element_bytes(job.precision) : 0.0))};
}

// Main gradients in fp32 unless --accumulate-allreduce-grads-in-fp32 is off (DistributedDataParallelConfig,
// grad_reduce_in_fp32).
double gradient_bytes(const Job& job) {
    return job.megatron.gradient_bytes > 0 ? job.megatron.gradient_bytes : accumulated_gradient_bytes(job);
}

}  // namespace

extern const Framework megatron{
    .name = "megatron",
    .summary = "Megatron-LM and Megatron-core",
    .offers = {.forwards_ahead = true, .weights_apart = true, .several_parts = true, .both_directions = true},
    .handover = Handover::paired,
    .input_reduction = input_reduction,
    .overlaps_pipeline = [](const Job& job) { return job.megatron.overlap_pipeline; },
    .weight_gradients = WeightGradients::accumulated,
    .expert_weights = ExpertWeights::in_activation,
    .modules = modules,
    .split = even_split,
    .default_overlap = [](const Job&) { return Setting::off; },
    .check = check_megatron,
    .lacking = lacking_megatron_features,
    .load_batch = load_batch,
    .loss = loss,
    .checkpoint_gather =
        [](const Job& job) { return gather_if(shares_checkpoints(job), job, "all-gather checkpoint"); },
    .expert_counts = expert_counts,
    .activation = [](const Job& job) { return crossing(job, "activation"); },
    .gradient = [](const Job& job) { return crossing(job, "gradient"); },
    .gather_received_activation =
        [](const Job& job) { return gather_if(scatters_boundaries(job), job, "all-gather activation"); },
    .gather_before_backward =
        [](const Job& job) { return gather_if(scatters_boundaries(job), job, "all-gather gradient"); },
    .step_end = step_end,
    .data_parallel = data_parallel,
    .shares = shares,
    .buffers = buffers,
    .gradient_bytes = gradient_bytes,
    .update_traffic = mixed_precision_update,
    .accumulation = megatron_accumulation,
};

}  // namespace weft::framework
