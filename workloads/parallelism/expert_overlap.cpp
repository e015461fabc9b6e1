#include "workloads/parallelism/expert_overlap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "workloads/framework/version_since.hpp"

namespace weft {
namespace {

bool exchanges_tokens(const Job& job) { return job.model.experts.count > 0 && job.layout.expert > 1; }

// What is cut at the exchange of tokens is not computed again as one.
void check_repeated(const Job& job, std::initializer_list<LayerPart> parts, std::vector<JobError>& errors) {
    if (job.recompute.granularity != Recompute::selective) return;
    if (std::ranges::none_of(parts, [&](LayerPart part) { return job.recompute.parts.has(part); })) return;
    errors.push_back(
        {"recompute",
         "layers that are cut at the exchange of tokens (experts.overlap) compute neither mlp, experts nor "
         "shared_experts again"});
}

// transformer_config.py, __post_init__, of Megatron-core 0.14 and, for graphs, 0.18; no version of it has a
// bidirectional schedule, which is run here as DualPipe itself does.
void check_megatrons_joint_passes(const Job& job, std::vector<JobError>& errors) {
    const auto refuse = [&](std::string why) { errors.push_back({"experts.overlap", std::move(why)}); };
    if (!has_since(job.megatron.version, joint_passes_since)) {
        refuse(
            fmt::format("Megatron {} has no joint passes (--overlap-moe-expert-parallel-comm); set megatron.version "
                        "to core-0.14",
                        job.megatron.version.name));
    }
    if (job.recompute.granularity == Recompute::full) {
        refuse(
            "Megatron-core 0.14 runs passes jointly only without full recomputation; set recompute to selective or "
            "none");
    }
    if (job.cuda_graphs == CudaGraphs::layer) {
        refuse("graphs of whole layers fix an order that joint passes mix; set cuda_graphs to none");
    }
    if (job.cuda_graphs == CudaGraphs::full && !has_since(job.megatron.version, joint_graphs_since)) {
        refuse(fmt::format("Megatron {} records no joint passes; set cuda_graphs to none or megatron.version to {}",
                           job.megatron.version.name, joint_graphs_since));
    }
    if (job.precision == Precision::fp32) refuse("Megatron-core runs passes jointly in bf16 and fp16, not in fp32");
}

void check_passes(const Job& job, std::vector<JobError>& errors) {
    const Schedule& schedule = *job.schedule;
    const bool pipelined = job.layout.pipeline > 1;
    if (schedule.joins == Schedule::Joins::never ||
        (schedule.joins == Schedule::Joins::without_pipeline && pipelined)) {
        errors.push_back({"experts.overlap",
                          fmt::format("no forward of {} runs as one with a backward on {} stages; interleaved and "
                                      "dualpipe have joint passes, and 1f1b on one stage",
                                      schedule.key, job.layout.pipeline)});
    }
    if (schedule.copies == 1) check_megatrons_joint_passes(job, errors);
    if (job.offloaded_layers > 0) {
        errors.push_back({"offloaded_layers", "passes that run as one keep their activations on the device"});
    }
    check_repeated(job, {LayerPart::experts, LayerPart::shared_experts, LayerPart::mlp}, errors);
}

void check_shared_experts(const Job& job, std::vector<JobError>& errors) {
    if (job.model.experts.shared == 0) {
        errors.push_back({"experts.overlap", fmt::format("{} has no shared experts to run beside the exchange of "
                                                         "tokens",
                                                         job.model.name)});
    }
    if (!has_since(job.megatron.version, shared_overlap_since)) {
        errors.push_back(
            {"experts.overlap",
             fmt::format("Megatron {} has no --moe-shared-expert-overlap; set megatron.version to core-0.9 "
                         "or later",
                         job.megatron.version.name)});
    }
    check_repeated(job, {LayerPart::experts, LayerPart::shared_experts}, errors);
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
    const ExpertOverlap overlap = expert_overlap(job);
    if (job.experts.delay_weight_gradients == Setting::on && overlap != ExpertOverlap::passes) {
        errors.push_back({"experts.delay_weight_gradients",
                          "weights' gradients are put off inside joint passes; set experts.overlap to passes"});
    }
    if (overlap == ExpertOverlap::none) return;
    if (!exchanges_tokens(job)) {
        errors.push_back({"experts.overlap",
                          "no rank sends tokens to another one's experts; layout.expert is 1, or the "
                          "model has none"});
        return;
    }
    if (job.framework->name != "megatron") {
        errors.push_back({"experts.overlap", fmt::format("{} runs nothing beside the exchange of tokens; megatron does",
                                                         job.framework->name)});
        return;
    }
    if (job.experts.dispatcher == Dispatch::all_gather) {
        errors.push_back(
            {"experts.overlap", "nothing runs beside tokens that all ranks gather; set experts.dispatcher"});
        return;
    }
    if (overlap == ExpertOverlap::passes) return check_passes(job, errors);
    check_shared_experts(job, errors);
}

}  // namespace weft
