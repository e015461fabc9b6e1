// From a plan to what data parallelism needs to know of a stage.
#include "workloads/framework/calls.hpp"
#include "workloads/plan/plan.hpp"

namespace weft {

ShardingInput sharding_input(const Plan& plan, std::uint32_t stage, StepKind step) {
    const Job& job = plan.job;
    const Layout& layout = job.layout;
    const double gradient_bytes = job.framework->gradient_bytes(job);
    const std::string_view element_type = element_name(job);
    return {
        .modules = plan.stages[stage].modules,
        .step = step,
        .stage = stage,
        .stages = layout.pipeline,
        .micro_batches = job.micro_batches(),
        .ranks = layout.copies(),
        .sequence_ranks = layout.copies() / layout.data,
        .expert_ranks = layout.expert_data(),
        .inner_ranks = layout.shard_ranks * (layout.copies() / layout.data),
        .expert_inner_ranks = layout.expert_shard_ranks(),
        .node_ranks = data_ranks_of_node(job),
        .model_ranks = layout.ranks() / layout.copies(),
        .tensor_ranks = layout.tensor,
        .sharing_experts = layout.expert,
        .device = &plan.device,
        .element_bytes = element_bytes(job.precision),
        .gradient_bytes = gradient_bytes,
        .element_type = element_type,
        .gradient_type = gradient_bytes == element_bytes(job.precision) ? element_type : "fp32",
        .zero = job.zero,
        .gradient_overlap = job.gradient_overlap,
        .bucket_elements = job.bucket_elements,
        .loss_scaling = job.precision == Precision::fp16 ? LossScaling::dynamic : LossScaling::none,
        .embedding_tie = job.copies_embedding() ? EmbeddingTie::over_stages : EmbeddingTie::none,
        .checkpointing = runs_again(job.recompute.granularity) ? Checkpointing::marked_layers : Checkpointing::none,
        .optimizer = job.optimizer,
        .host_link = plan.machine.host ? plan.machine.host->link : BytesPerSecond{},
        .drives_read = plan.machine.host ? plan.machine.host->drives_read / plan.job.ranks_per_node : BytesPerSecond{},
        .deepspeed = job.deepspeed,
        .megatron = job.megatron,
        .fsdp = job.fsdp,
        .ddp = job.ddp};
}

}  // namespace weft
