#include "workloads/plan.hpp"

#include <algorithm>
#include <numeric>

#include "models/transformer/flops.hpp"
#include "sim/base/check.hpp"

namespace weft {
namespace {

Seconds gemm_time(const Plan& plan, const std::vector<Kernel>& kernels, std::string_view name) {
    const auto it = std::ranges::find(kernels, name, &Kernel::name);
    WEFT_CHECK(it != kernels.end(), "no kernel " + std::string(name));
    return kernel_time(plan.device, plan.job.precision, *it);
}

PartCosts part_costs(const Plan& plan) {
    const Job& job = plan.job;
    const Shard shard = job.shard();
    const LayerKernels forward = layer_forward(job.model, shard);
    const LayerKernels backward = layer_backward(job.model, shard);
    const auto time = [&](const std::vector<Kernel>& kernels) {
        return kernel_time(plan.device, job.precision, kernels);
    };
    PartCosts costs;
    costs.attention_forward = time(forward.attention);
    costs.mlp_forward = time(forward.mlp);
    costs.attention_backward = time(backward.attention);
    costs.mlp_backward = time(backward.mlp);
    // The weight gradient is a product of the same three dimensions as the forward one.
    costs.attention_weight_gradient = gemm_time(plan, forward.attention, "qkv");
    costs.mlp_weight_gradient = gemm_time(plan, forward.mlp, "h_to_4h");
    costs.core_forward = time(forward.attention_core);
    costs.embedding_forward = time(embedding_forward(job.model, shard));
    costs.embedding_backward = time(embedding_backward(job.model, shard));
    const std::vector<Kernel> head_ahead = head_forward(job.model, shard), head_back = head_backward(job.model, shard);
    costs.head_forward = time(head_ahead);
    costs.head_backward = time(head_back);
    costs.layer_forward = total_flops(forward.attention) + total_flops(forward.mlp);
    costs.layer_backward = total_flops(backward.attention) + total_flops(backward.mlp);
    costs.core = total_flops(forward.attention_core);
    costs.head_forward_flops = total_flops(head_ahead);
    costs.head_backward_flops = total_flops(head_back);
    return costs;
}

// Gradients in the order backward produces them: head, layers from the last, embedding.
std::vector<GradientPart> gradient_parts(const Job& job, const Stage& stage) {
    const Transformer& model = job.model;
    const std::uint32_t tensor = job.layout.tensor;
    std::vector<GradientPart> parts;
    if (stage.has_head()) {
        parts.push_back({head_tensors(model, tensor)});
        if (job.copies_embedding()) parts.back().tensors.push_back(job.embedding_matrix());
    }
    const GradientPart layer{layer_tensors(model, tensor)};
    parts.insert(parts.end(), stage.layers, layer);
    if (stage.has_embedding()) parts.push_back({embedding_tensors(model, tensor)});
    return parts;
}

// Vectors are the tensors no larger than the widest bias: norms and biases carry no weight decay.
void count_parameters(const Job& job, Stage& stage) {
    const std::uint64_t widest = 4ULL * std::max(job.model.hidden, job.model.ffn_hidden);
    for (const GradientPart& part : stage.gradient_parts) {
        for (const std::uint64_t elements : part.tensors) {
            (elements <= widest ? stage.vectors : stage.matrices) += static_cast<double>(elements);
        }
    }
}

// Parameters whose optimizer states this rank holds and updates.
double updated_parameters(const Job& job, const Stage& stage) {
    return job.framework->shards_optimizer(job) ? stage.parameters() / job.layout.data : stage.parameters();
}

MemoryUse memory_use(const Plan& plan, const Stage& stage) {
    const Job& job = plan.job;
    const Shard shard = job.shard();
    const double parameters = stage.parameters();
    MemoryUse use;
    use.parameters = {parameters * element_bytes(job.precision)};
    use.gradients = {parameters * job.framework->gradient_bytes(job)};
    // Adam: fp32 momentum and variance, and an fp32 master copy where the working copy is half precision.
    use.optimizer = {updated_parameters(job, stage) * (job.precision == Precision::fp32 ? 8.0 : 12.0)};
    use.activations = stage.activations_per_micro_batch * stage.in_flight;
    use.buffers = job.framework->bucket_memory(job, parameters);
    use.workspace = layer_workspace(job.model, shard, job.recompute);
    return use;
}

Bytes activations(const Job& job, const Stage& stage) {
    const Shard shard = job.shard();
    Bytes sum = layer_activations(job.model, shard, job.recompute) * stage.layers;
    if (stage.has_embedding()) sum += embedding_activations(job.model, shard);
    if (stage.has_head()) sum += head_activations(job.model, shard);
    return sum;
}

std::vector<Stage> stages(const Plan& plan) {
    const Job& job = plan.job;
    std::string why;
    const std::vector<std::uint32_t> layers = job.stage_layers(why);
    WEFT_CHECK(!layers.empty(), why);
    std::vector<Stage> stages;
    std::uint32_t first = 0;
    const std::uint32_t count = job.layout.pipeline;
    for (std::uint32_t s = 0; s < count; ++s) {
        Stage stage;
        stage.first_layer = first;
        stage.layers = layers[s];
        first += layers[s];
        stage.ends = Stage::Ends((s == 0 ? 1U : 0U) | (s + 1 == count ? 2U : 0U));
        stage.slots = job.schedule->slots({count, job.micro_batches(), 1}, s);
        stage.in_flight = peak_in_flight(stage.slots);
        stage.gradient_parts = gradient_parts(job, stage);
        count_parameters(job, stage);
        stage.buckets = job.framework->buckets(job, s, stage.gradient_parts);
        stage.optimizer = optimizer_time(plan.device, updated_parameters(job, stage));
        stage.activations_per_micro_batch = activations(job, stage);
        stage.memory = memory_use(plan, stage);
        stages.push_back(std::move(stage));
    }
    WEFT_CHECK(first == job.model.layers, "the stages do not hold every layer once");
    return stages;
}

Flops hardware_flops(const Plan& plan) {
    const Job& job = plan.job;
    const PartCosts& costs = plan.costs;
    Flops layer = costs.layer_forward + costs.layer_backward;
    if (job.recompute == Recompute::full) layer += costs.layer_forward;
    if (job.recompute == Recompute::selective) layer += costs.core;
    const Flops micro_batch = layer * job.model.layers + costs.head_forward_flops + costs.head_backward_flops;
    return micro_batch * (static_cast<double>(job.layout.tensor) * job.layout.data * job.micro_batches());
}

}  // namespace

bool Plan::fits() const { return stages[fullest_stage()].memory.total() <= device.memory; }

std::size_t Plan::fullest_stage() const {
    const auto it = std::ranges::max_element(stages, {}, [](const Stage& s) { return s.memory.total(); });
    return static_cast<std::size_t>(it - stages.begin());
}

Plan make_plan(const Study& study) {
    Plan plan{.job = study.job,
              .device = study.device,
              .machine = study.machine.info(),
              .costs = {},
              .stages = {},
              .model_flops = {},
              .hardware_flops = {}};
    plan.costs = part_costs(plan);
    plan.stages = stages(plan);
    plan.model_flops = model_flops(plan.job.model, plan.job.batch.global, plan.job.batch.sequence);
    plan.hardware_flops = hardware_flops(plan);
    return plan;
}

}  // namespace weft
