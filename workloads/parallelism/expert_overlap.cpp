#include "workloads/parallelism/experts.hpp"

#include "workloads/framework/refusals.hpp"

namespace weft {
namespace {

bool exchanges_tokens(const Job& job) { return job.model.experts.count > 0 && job.layout.expert > 1; }

// What is cut at the exchange of tokens is not computed again as one.
void check_repeated(const Job& job, const Refusals& refuse) {
    const LayerParts& parts = job.recompute.parts;
    const bool any = parts.has(LayerPart::experts) || parts.has(LayerPart::shared_experts);
    refuse.when(job.recompute.granularity == Recompute::selective && any, "recompute",
                "layers that are cut at the exchange of tokens (experts.overlap) compute neither experts nor "
                "shared_experts again");
}

// transformer_config.py, __post_init__, of Megatron-core 0.14 and, for graphs, 0.18; no version of it has a
// bidirectional schedule, which is run here as DualPipe itself does.
void check_megatrons_joint_passes(const Job& job, const Refusals& refuse) {
    constexpr std::string_view key = "experts.overlap";
    const MegatronVersion& version = job.megatron.version;
    refuse.when(
        !has_since(version, joint_passes_since), key,
        "Megatron {} has no joint passes (--overlap-moe-expert-parallel-comm); set megatron.version to core-0.14",
        version.name);
    refuse.when(job.recompute.granularity == Recompute::full, key,
                "Megatron-core 0.14 runs passes jointly only without full recomputation; set recompute to selective or "
                "none");
    refuse.when(job.cuda_graphs == CudaGraphs::layer, key,
                "graphs of whole layers fix an order that joint passes mix; set cuda_graphs to none");
    refuse.when(job.cuda_graphs == CudaGraphs::full && !has_since(version, joint_graphs_since), key,
                "Megatron {} records no joint passes; set cuda_graphs to none or megatron.version to {}", version.name,
                joint_graphs_since);
    refuse.when(job.precision == Precision::fp32, key,
                "Megatron-core runs passes jointly in bf16 and fp16, not in fp32");
}

void check_passes(const Job& job, const Refusals& refuse) {
    const Schedule& schedule = *job.schedule;
    const bool pipelined = job.layout.pipeline > 1;
    const bool joins = schedule.joins == Schedule::Joins::always ||
                       (schedule.joins == Schedule::Joins::without_pipeline && !pipelined);
    refuse.when(
        !joins, "experts.overlap",
        "no forward of {} runs as one with a backward on {} stages; interleaved and dualpipe have joint passes, "
        "and 1f1b on one stage",
        schedule.key, job.layout.pipeline);
    if (schedule.copies == 1) check_megatrons_joint_passes(job, refuse);
    refuse.when(job.offloaded_layers > 0, "offloaded_layers",
                "passes that run as one keep their activations on the device");
    check_repeated(job, refuse);
}

void check_shared_experts(const Job& job, const Refusals& refuse) {
    refuse.when(job.model.experts.shared == 0, "experts.overlap",
                "{} has no shared experts to run beside the exchange of tokens", job.model.name);
    refuse.when(!has_since(job.megatron.version, shared_overlap_since), "experts.overlap",
                "Megatron {} has no --moe-shared-expert-overlap; set megatron.version to core-0.9 or later",
                job.megatron.version.name);
    check_repeated(job, refuse);
}

}  // namespace

ExpertOverlap expert_overlap(const Job& job) {
    if (job.experts.overlap) return *job.experts.overlap;
    const bool sends = exchanges_tokens(job) && job.experts.dispatcher != Dispatch::all_gather;
    return job.schedule->copies > 1 && sends ? ExpertOverlap::passes : ExpertOverlap::none;
}

Setting delays_weight_gradients(const Job& job) {
    if (expert_overlap(job) != ExpertOverlap::passes) return Setting::off;
    return job.experts.delay_weight_gradients.value_or(job.schedule->copies > 1 ? Setting::on : Setting::off);
}

void check_expert_overlap(const Job& job, std::vector<JobError>& errors) {
    constexpr std::string_view key = "experts.overlap";
    const Refusals refuse(errors);
    const ExpertOverlap overlap = expert_overlap(job);
    refuse.when(job.experts.delay_weight_gradients == Setting::on && overlap != ExpertOverlap::passes,
                "experts.delay_weight_gradients",
                "weights' gradients are put off inside joint passes; set experts.overlap to passes");
    if (overlap == ExpertOverlap::none) return;
    if (!exchanges_tokens(job)) {
        return refuse(key, "no rank sends tokens to another one's experts; layout.expert is 1, or the model has none");
    }
    if (job.framework->name != "megatron") {
        return refuse(key, "{} runs nothing beside the exchange of tokens; megatron does", job.framework->name);
    }
    if (job.experts.dispatcher == Dispatch::all_gather) {
        return refuse(key, "nothing runs beside tokens that all ranks gather; set experts.dispatcher");
    }
    overlap == ExpertOverlap::passes ? check_passes(job, refuse) : check_shared_experts(job, refuse);
}

}  // namespace weft
